"""Scenarios about the renewal of tokens by several bridges at once. Each scenario is a function of a
contender (the bridge that is measured) and the provider. It returns the cells of its rows in the table."""

import random
import threading
import time

from instances import Lab, Unanswered
from signing_in import good, in_parallel, is_good


class Caller(threading.Thread):
    """Calls a tool once a second while the bridge runs."""

    def __init__(self, instance, until):
        super().__init__(daemon=True)
        self.instance, self.until = instance, until
        self.asked = self.answered = 0
        self.errors = {}
        self.start()

    def run(self):
        while time.monotonic() < self.until and not self.instance.is_killed:
            begun = time.monotonic()
            try:
                answer = self.instance.call("x", timeout=30)
                error = None if is_good(answer) else answer["error"].get("message", "")[:70]
            except Unanswered:
                error = "no answer"
            except (OSError, ValueError) as broken:
                error = f"{broken}"
            if self.instance.is_killed:
                return
            self.asked += 1
            self.answered += error is None
            if error is not None:
                self.errors[error] = self.errors.get(error, 0) + 1
            time.sleep(max(0.0, 1 - (time.monotonic() - begun)))


def together(callers):
    asked, answered = sum(caller.asked for caller in callers), sum(caller.answered for caller in callers)
    errors = {}
    for caller in callers:
        for error, count in caller.errors.items():
            errors[error] = errors.get(error, 0) + count
    for error, count in errors.items():
        print(f"    {count} × {error}", flush=True)
    return f"{answered} of {asked}"


def soak(contender, provider, lifetime, seconds):
    with Lab(contender, provider, lifetime=lifetime) as lab:
        instances = lab.ready(8)
        before = len(lab.person.tabs)
        provider.count()
        renewed = provider.counts["renewals"]
        until = time.monotonic() + seconds
        callers = [Caller(instance, until) for instance in instances]
        while any(caller.is_alive() for caller in callers):
            time.sleep(2)
            provider.count()
        cpu = sum(instance.processor_seconds() for instance in instances if instance.process.poll() is None) / 8
        counts = provider.count()
        renewals = counts["renewals"] - renewed
        return {f"8 × {seconds} s, {lifetime} s tokens, 1 call/s": (
            f"{len(lab.person.tabs) - before} tabs, {renewals} ren ({renewals * lifetime / seconds:.1f} for each "
            f"lifetime), {counts['reuses']} reuse, {together(callers)}, CPU {cpu:.2f} s each")}


def storm(contender, provider, seconds):
    """Scenario: every 1.3 s, one of six process groups is killed and started again, while the token endpoint
    takes 3 s for each answer."""
    with Lab(contender, provider, lifetime=20) as lab:
        living = lab.ready(6)
        before = len(lab.person.tabs)
        provider.slow(100_000, 3)
        until = time.monotonic() + seconds
        callers = [Caller(instance, until) for instance in living]
        kills = 0

        def begin(instance):
            try:
                is_ready = is_good(instance.greet(40))
            except (Unanswered, OSError, ValueError):
                is_ready = False
            if not instance.is_killed and is_ready:
                callers.append(Caller(instance, until))
            elif not instance.is_killed:
                failures.append(instance)

        failures = []
        while time.monotonic() < until:
            time.sleep(1.3)
            victim = living.pop(random.randrange(len(living)))
            victim.kill()
            kills += 1
            instance = lab.start()
            living.append(instance)
            threading.Thread(target=begin, args=[instance], daemon=True).start()
            provider.count()
        for caller in list(callers):
            caller.join(35)
        counts = provider.count()
        tabs = f"{len(lab.person.tabs) - before} tabs"
        cell = (f"{kills} kills: {tabs}, {counts['reuses']} reuse, {counts['renewals']} ren, "
                f"{together(callers)} calls, {len(failures)} not ready")
        # The provider must not stay slow for the scenarios that follow.
        provider.restart()
        return {f"kill storm of groups, {seconds} s": cell}


def slow_endpoint(contender, provider):
    with Lab(contender, provider) as lab:
        instances = lab.ready(8)
        provider.count()
        renewed = provider.counts["renewals"]
        lab.notes.refuse_all()
        provider.slow(8, 3)
        begun = time.monotonic()
        answers = in_parallel(lambda instance: instance.call("x"), instances)
        seconds = time.monotonic() - begun
        counts = provider.count()
        cell = (f"{good(answers)} of 8 within {seconds:.2f} s, {counts['renewals'] - renewed} ren, "
                f"{counts['reuses']} reuse, {len(lab.person.tabs) - 1} tabs")
        provider.restart()
        return {"401 for 8, token endpoint takes 3 s": cell}


def calls_beside(contender, provider):
    """Measures calls while the bridge renews a token that is still valid."""
    with Lab(contender, provider, lifetime=20) as lab:
        instance = lab.ready(1)[0]
        provider.slow(1000, 3)
        until, longest = time.monotonic() + 30, 0.0
        while time.monotonic() < until:
            begun = time.monotonic()
            try:
                at, _, _ = instance.await_answer(instance.begin_call("x"), 30)
            except (Unanswered, OSError):
                at = time.monotonic()
            longest = max(longest, at - begun)
            time.sleep(0.1)
        renewals = provider.count()["renewals"]
        provider.restart()
        return {"longest call in 30 s, 20 s tokens, token endpoint takes 3 s": f"{longest:.2f} s, {renewals} ren"}


def unavailable(contender, provider):
    """Scenario: the token endpoint answers twice with 503, first at a renewal of a running bridge, then at
    the first renewal of a new bridge."""
    rows = {}
    with Lab(contender, provider) as lab:
        instance = lab.ready(1)[0]
        lab.notes.refuse_all()
        provider.fault("status", 2, status=503)
        begun = time.monotonic()
        try:
            answer = instance.call("x")
            words = "answered" if is_good(answer) else f"error {answer['error']['code']}"
        except (Unanswered, OSError):
            words = "no answer"
        seconds = time.monotonic() - begun
        rows["token endpoint 503 twice, running"] = f"{words} after {seconds:.1f} s, {len(lab.person.tabs) - 1} tabs"
        provider.restart()
    with Lab(contender, provider, lifetime=2) as lab:
        lab.ready(1)[0].kill()
        time.sleep(2.5)
        provider.fault("status", 4, status=503)
        begun = time.monotonic()
        instance = lab.start()
        try:
            answer = instance.greet()
            words = "answered" if is_good(answer) else f"error {answer['error']['code']}"
        except (Unanswered, OSError):
            words = "no answer" if instance.process.poll() is None else f"exit {instance.process.poll()}"
        seconds = time.monotonic() - begun
        rows["token endpoint 503 four times, start"] = f"{words} after {seconds:.1f} s, {len(lab.person.tabs) - 1} tabs"
        provider.restart()
    return rows


def one_refused(contender, provider):
    """Scenario: the server refuses the refresh token for ever. Counts how often 8 bridges send it."""
    with Lab(contender, provider) as lab:
        instances = lab.ready(8)
        lab.person.may_go.clear()
        provider.sign_out()
        lab.notes.refuse_all()
        before = provider.count()["token requests"]
        for instance in instances:
            instance.begin_call("x")
        time.sleep(6)
        sent = provider.count()["token requests"] - before
        lab.person.may_go.set()
        return {"renewals sent by 8 for one refused refresh token": f"{sent}"}

