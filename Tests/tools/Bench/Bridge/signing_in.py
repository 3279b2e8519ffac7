"""Scenarios with a person: tabs, registrations, and sign-ins that do not go smoothly. Each scenario is a
function of a contender (the bridge that is measured) and the provider. It returns the cells of its rows in
the table."""

import signal
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from instances import HELLO, Lab, Unanswered
from processes import wait_until

PERSON_SECONDS = 3


def in_parallel(function, items):
    """Calls the function for all items at the same time, and returns the results; an exception counts as a result."""
    results = [None] * len(items)

    def work(number):
        try:
            results[number] = function(items[number])
        except (Unanswered, OSError, ValueError) as error:
            results[number] = error

    threads = [threading.Thread(target=work, args=[number]) for number in range(len(items))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def is_good(answer):
    return isinstance(answer, dict) and "result" in answer


def good(answers):
    return sum(map(is_good, answers))


def tabs_and_more(lab):
    counts = lab.provider.count()
    dead = f" ({lab.person.dead} dead)" if lab.person.dead else ""
    return f"{len(lab.person.tabs)} tabs{dead}, {counts['registrations']} reg"


def together(contender, provider, count):
    with Lab(contender, provider, delay=PERSON_SECONDS) as lab:
        begun = time.monotonic()
        instances = lab.together(count)
        ends = {}

        def greet(instance):
            answer = instance.greet(120)
            ends[instance] = time.monotonic()
            return answer

        ready = good(in_parallel(greet, instances))
        first = min(lab.person.done_at, default=begun)
        last = max(ends.values(), default=begun)
        return {f"{count} together, empty store": f"{tabs_and_more(lab)}, {ready} ready {last - first:.1f} s after"}


def eight_together(contender, provider):
    return together(contender, provider, 8)


def crowd_together(contender, provider):
    return together(contender, provider, 32)


def signed_out(contender, provider):
    with Lab(contender, provider) as lab:
        instances = lab.ready(8)
        before = len(lab.person.tabs)
        lab.person.delay = 2
        lab.person.dead = 0
        provider.sign_out()
        lab.notes.refuse_all()
        begun = time.monotonic()
        answers = in_parallel(lambda instance: instance.call("x"), instances)
        seconds = time.monotonic() - begun
        words = f"{good(answers)} of 8 answered in {seconds:.1f} s"
        if good(answers) < 8:
            # Some bridges answer with an error and still open a tab.
            time.sleep(10)
            later = in_parallel(lambda instance: instance.call("x"), instances)
            words += f", {good(later)} of 8 after 10 s"
        tabs = f"{len(lab.person.tabs) - before} tabs ({lab.person.dead} dead)"
        return {"8 running, signed out at the server": f"{tabs}, {words}"}


def step_up(contender, provider, count):
    with Lab(contender, provider) as lab:
        instances = lab.ready(count)
        before = len(lab.person.tabs)
        lab.person.delay = 2
        answers = in_parallel(lambda instance: instance.call("write", timeout=45), instances)
        tabs = len(lab.person.tabs) - before
        return {f"step-up of {count} at once": f"{tabs} tabs, {good(answers)} of {count}"}


def step_up_three(contender, provider):
    return step_up(contender, provider, 3)


def step_up_eight(contender, provider):
    return step_up(contender, provider, 8)


def killed_while_waiting(contender, provider):
    """Scenario: three times, the host kills the bridge that waits for the person, and starts it again."""
    rows = {}
    for name, is_group in (("process", False), ("group", True)):
        with Lab(contender, provider) as lab:
            lab.person.may_go.clear()
            for _ in range(3):
                instance = lab.start()
                instance.begin("initialize", HELLO)
                wait_until(lambda: lab.person.tabs, "a tab", timeout=30)
                # After this pause, a bridge that opens a tab at each start has opened its tab.
                time.sleep(2.5)
                instance.kill(is_group=is_group)
            last = lab.start()
            number = last.begin("initialize", HELLO)
            time.sleep(2.5)
            lab.person.may_go.set()
            try:
                is_ready = "result" in last.await_answer(number, 60)[2]
            except Unanswered:
                is_ready = False
            words = "ready" if is_ready else "not ready"
            rows[f"kill -9 of the waiting {name}, 3 restarts"] = f"{tabs_and_more(lab)}, {words}"
    return rows


def slow_person(contender, provider):
    """Scenario: the person needs 70 s to sign in, but hosts wait only 60 s for an answer."""
    with Lab(contender, provider, delay=70) as lab:
        instance = lab.start()
        begun = time.monotonic()
        try:
            answer = instance.ask("initialize", HELLO, 60)
            words = f"answered after {time.monotonic() - begun:.0f} s"
            if "error" in answer:
                words += f" with {answer['error']['code']}"
        except Unanswered:
            words = "no answer in 60 s"
        wait_until(lambda: lab.person.done_at, "the person is done", timeout=90)
        time.sleep(1)
        if instance.process.poll() is not None:
            words += ", has ended"
        later = lab.start()
        try:
            is_ready = is_good(later.greet(20))
        except (Unanswered, OSError):
            is_ready = False
        return {"sign-in that takes 70 s":
                f"{words}; then {'ready' if is_ready else 'not ready'}, {tabs_and_more(lab)}"}  # fmt: skip


def closed_tab(contender, provider):
    """Scenario: the person closes the tab. Two minutes later the host asks again."""
    with Lab(contender, provider) as lab:
        lab.person.may_go.clear()
        begun = time.monotonic()
        instance = lab.start()
        instance.begin("initialize", HELLO)
        lab.person.wait_for_tabs(1)
        time.sleep(max(0.0, begun + 130 - time.monotonic()))
        if instance.process.poll() is not None:
            instance = lab.start()
        number = instance.begin("initialize", HELLO)
        time.sleep(10)
        tabs = len(lab.person.tabs)
        lab.person.may_go.set()
        try:
            is_ready = "result" in instance.await_answer(number, 60)[2]
        except Unanswered:
            is_ready = False
        return {"tab closed, a request after 130 s": f"{tabs} tabs, {'ready' if is_ready else 'not ready'}"}


def wrong_state(contender, provider):
    """Scenario: another program on this machine calls the callback with a `state` of its own."""
    with Lab(contender, provider) as lab:
        # With a pushed authorization request, the address of the tab would not contain the callback.
        provider.control("config", {"par": "off"})
        lab.person.may_go.clear()
        instance = lab.start()
        number = instance.begin("initialize", HELLO)
        lab.person.wait_for_tabs(1)
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(lab.person.tabs[0]).query)
        callback = f"{query['redirect_uri'][0]}?code=x&state=wrong"
        try:
            with urllib.request.urlopen(callback, timeout=10) as page:
                status = page.status
        except urllib.error.HTTPError as refused:
            status = refused.code
        except OSError:
            status = "closed"
        lab.person.may_go.set()
        try:
            is_ready = "result" in instance.await_answer(number, 30)[2]
        except Unanswered:
            is_ready = False
        provider.control("config", {"par": "offered"})
        words = "goes on" if is_ready else "sign-in ended"
        return {"callback with a wrong state": f"{status}, {words}, {tabs_and_more(lab)}"}


def forgotten(contender, provider):
    """Scenario: the authorization server forgets its clients and tokens while the bridge runs."""
    with Lab(contender, provider) as lab:
        instance = lab.ready(1)[0]
        before = len(lab.person.tabs)
        provider.restart()
        provider.begin(3600)
        lab.notes.refuse_all()
        words = []
        for _ in range(2):
            try:
                answer = instance.call("x", timeout=40)
                words.append("answered" if is_good(answer) else f"error {answer['error']['code']}")
            except (Unanswered, OSError):
                words.append("no answer")
            if words[-1] == "answered":
                break
            time.sleep(3)
        counts = provider.count()
        return {"authorization server forgot clients and tokens":
                f"{', '.join(words)}; {len(lab.person.tabs) - before} tabs, {counts['registrations']} reg"}  # fmt: skip


def lost_answer(contender, provider):
    """Scenario: one answer of the token endpoint is lost. At a strict server this ends the session."""
    with Lab(contender, provider) as lab:
        instance = lab.ready(1)[0]
        before = len(lab.person.tabs)
        lab.notes.refuse_all()
        provider.fault("drop", 1)
        try:
            answer = instance.call("x", timeout=40)
            words = "answered" if is_good(answer) else f"error {answer['error']['code']}"
        except (Unanswered, OSError):
            words = "no answer"
        return {"one answer of the token endpoint lost": f"{words}, {len(lab.person.tabs) - before} tabs"}


def killed_in_renewal(contender, provider, tries):
    """Scenario: the bridge or its process group ends during a renewal or shortly after it. A new bridge must
    still have the session."""
    rows = {}
    cases = (
        (signal.SIGKILL, False, "kill -9 of the process"), (signal.SIGKILL, True, "kill -9 of the group"),
        (signal.SIGTERM, False, "SIGTERM to the process"), (signal.SIGTERM, True, "SIGTERM to the group"),
    )  # fmt: skip
    for how, is_group, name in cases:
        with Lab(contender, provider) as lab:
            lab.ready(1)[0].kill()
            before = len(lab.person.tabs)
            bad = 0
            for attempt in range(tries):
                lab.notes.refuse_all()
                provider.slow(1, 0.3)
                asked = provider.count()["token requests"]
                victim = lab.start()
                victim.begin("initialize", HELLO)
                wait_until(lambda: provider.count()["token requests"] > asked, "a renewal", timeout=30)
                time.sleep(0.45 * attempt / tries)
                victim.kill(how, is_group)
                if how == signal.SIGTERM:
                    victim.close()
                tabs = len(lab.person.tabs)
                try:
                    is_lost = not is_good(lab.start().greet(30))
                except Unanswered:
                    is_lost = True
                bad += is_lost or len(lab.person.tabs) > tabs
                for instance in lab.instances:
                    if not instance.is_killed:
                        instance.kill()
                lab.instances.clear()
            counts = provider.count()
            rows[f"session lost by {name} in the renewal"] = (
                f"{bad} of {tries} ({counts['renewals']} ren), {counts['reuses']} reuse, "
                f"{len(lab.person.tabs) - before} tabs")
    return rows

