"""Another process of an office: it waits for a line, does one thing, and tells how it went.

Usage: python people_client.py WORKSPACE link SECRET
       python people_client.py WORKSPACE confirm WHO NUMBER
       python people_client.py WORKSPACE take WHO NAME           takes NAME's role of a custodian
       python people_client.py WORKSPACE add WHO NAME            with the role of a custodian
       python people_client.py WORKSPACE count KEY MOST TIMES    and tells how often there was room
"""

from __future__ import annotations

import sys

from discreet import session
from discreet.errors import DiscreetError, TooManyRequests
from discreet.people import Bucket, People, Role

__all__: list[str] = []


def act(people: People, words: list[str]) -> object:
    match words:
        case ["link", secret]:
            return people.sign_in.use_link(secret)[0].name
        case ["confirm", who, number]:
            return people.confirm(int(number), who=who).name
        case ["take", who, name]:
            return type(people.take_role(name, Role.CUSTODIAN, who=who)).__name__
        case ["add", who, name]:
            return people.add(name, {Role.CUSTODIAN}, who=who).name
        case ["count", key, most, times]:
            return count(people, Bucket(key, int(most), 3_600), int(times))
    raise ValueError(words)


def count(people: People, bucket: Bucket, times: int) -> int:
    found = 0
    for _ in range(times):
        try:
            people.limits.take(bucket)
            found += 1
        except TooManyRequests:
            pass
    return found


def main() -> None:
    folder, *words = sys.argv[1:]
    opened = session.open(folder)
    people = People(opened.workspace, opened.ledger)
    people.catch_up()
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        print(act(people, words), flush=True)
    except DiscreetError as error:
        print(error.name, flush=True)
    finally:
        people.close()
        opened.close()


if __name__ == "__main__":
    main()
