"""Where a one-time link leads: sign in, take a token for programs, choose a password. One page in each language.

The link's secret stands in the fragment of the address, which no server hears and no log keeps. The script reads its
words from the page, so that they come from the one catalogue.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from discreet.catalogue import LANGUAGES, say, speaking
from discreet.present import Markup, element

__all__ = ["PAGE_POLICY", "RESOURCES", "read_resource", "write_welcome"]

PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
RESOURCES: Final = {"welcome.js": "text/javascript; charset=utf-8", "welcome.css": "text/css; charset=utf-8"}


def read_resource(name: str) -> bytes:
    """A script or style of the page; only what RESOURCES names."""
    assert name in RESOURCES
    return (files("discreet.server.welcome") / "resources" / name).read_bytes()


def write_welcome(language: str) -> bytes:
    """The whole page."""
    with speaking(language):
        head = element(
            "head",
            element("meta", charset="utf-8"),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="robots", content="noindex"),
            element("title", say("Sign in to Discreet")),
            element("link", rel="stylesheet", href="/static/welcome.css"),
            element("script", "", src="/static/welcome.js", defer="defer"),
        )
        body = element(
            "body",
            _others(language),
            element("main", element("h1", say("Sign in to Discreet")), *_sections()),
            data_language=language,
        )
        return f"<!DOCTYPE html>\n{element('html', head, body, lang=language)}\n".encode()


def _others(language: str) -> Markup:
    names = {"en": "English", "fr": "Français"}
    links = [
        element("a", names[other], href=f"/{other}/welcome", lang=other, hreflang=other, class_="language")
        for other in LANGUAGES
        if other != language
    ]
    return element("nav", *links, aria_label=say("Language"))


def _sections() -> list[Markup]:
    return [
        element("noscript", element("p", say("This page needs JavaScript. Programs sign in with a token instead."))),
        element("p", "", id="said", role="status", aria_live="polite"),
        element(
            "section",
            element("p", say("This link works once. It signs you in on this device for twelve hours.")),
            element("button", say("Use the link"), id="use-link", type="button"),
            id="by-link",
            hidden="hidden",
        ),
        element(
            "form",
            element("h2", say("With a password")),
            element("label", say("Name"), for_="name"),
            element("input", id="name", name="name", autocomplete="username", required="required"),
            element("label", say("Password"), for_="password"),
            element(
                "input",
                id="password",
                name="password",
                type="password",
                autocomplete="current-password",
                required="required",
            ),
            element("button", say("Sign in"), type="submit"),
            id="by-password",
            hidden="hidden",
        ),
        element("section", *_inside(), id="inside", hidden="hidden"),
    ]


def _inside() -> list[Markup]:
    return [
        element("p", element("span", say("Signed in:")), " ", element("strong", "", id="who"), " ", _span("roles")),
        element("h2", say("A token for programs")),
        element("p", say("A token says who you are to commands, scripts and spreadsheets. It is shown once.")),
        element("button", say("Make a token for 90 days"), id="make-token", type="button"),
        element(
            "div",
            element("p", say("Keep it where only you can read it, then ask:")),
            element("pre", "", id="token", tabindex="0", aria_label=say("Your token")),
            id="made",
            hidden="hidden",
        ),
        element(
            "form",
            element("h2", say("A password for this page")),
            element("input", id="own-name", type="text", autocomplete="username", hidden="hidden", readonly="readonly"),
            element("label", say("New password, 12 characters or more"), for_="new-password"),
            element(
                "input",
                id="new-password",
                type="password",
                autocomplete="new-password",
                minlength="12",
                required="required",
            ),
            element("button", say("Set the password"), type="submit"),
            id="set-password",
        ),
        element("button", say("Sign out"), id="sign-out", type="button", class_="quiet"),
        *(element("template", words, id=f"words-{code}") for code, words in _words().items()),
    ]


def _words() -> dict[str, str]:
    """What the script says, and the names of roles."""
    return {
        "out": say("Signed out."),
        "refused": say(
            "That did not sign you in. A link works once, within a day; a name and a password must both be right. A "
            "custodian can make you a new link."
        ),
        "password": say("The password is set. Wherever else you were signed in, you no longer are."),
        "lost": say("The server gave no answer. Try again."),
        "analyst": say("analyst"),
        "reviewer": say("reviewer"),
        "custodian": say("custodian"),
        "auditor": say("auditor"),
    }


def _span(id: str) -> Markup:
    return element("span", "", id=id)
