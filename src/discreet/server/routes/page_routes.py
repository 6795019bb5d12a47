"""Pages and what they load: a list of literal paths, so that no page can stand in the way of the API."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Response

from discreet.catalogue import LANGUAGES
from discreet.server.welcome.welcome_page import PAGE_POLICY, RESOURCES, read_resource, write_welcome

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


def _page(language: str) -> Response:
    headers = {"content-security-policy": PAGE_POLICY}
    return Response(write_welcome(language), media_type="text/html; charset=utf-8", headers=headers)


def _resource(name: str, media: str) -> Response:
    return Response(read_resource(name), media_type=media, headers={"cache-control": "no-cache"})


for _language in LANGUAGES:
    router.add_api_route(f"/{_language}/welcome", partial(_page, _language), methods=["GET"])
for _name, _media in RESOURCES.items():
    router.add_api_route(f"/static/{_name}", partial(_resource, _name, _media), methods=["GET"])
