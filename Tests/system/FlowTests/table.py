"""A table of the tests that prove each flow on each face: `run -v 2>&1 | python3 table.py` prints it as Markdown.

Fails if a flow has no passing test on a face.
"""

import re
import sys

FACES = {"Swift": ("swift",), "C": ("c", "c-small"), "JSON-RPC": ("jsonrpc",)}

# Flow, class, and the test of the whole flow.
FLOWS = (
    ("sign-in", "SignIn", "test_the_whole_way"),
    ("sign-in, redirect to another process", "SignIn", "test_the_process_that_receives_the_redirect"),
    ("sign-in by loopback redirect", "SignIn", "test_a_loopback_redirect"),
    ("registration, begun as a sign-in, by e-mail link", "EmailLinks", "test_from_the_form_to_a_token_through_death"),
    ("registration, prompt=create", "EmailLinks", "test_registration_may_begin_with_prompt_create"),
    ("registration, the gateway's own page", "EmailLinks", "test_registration_may_begin_at_the_gateways_own_page"),
    ("activation by the welcome page", "EmailLinks", "test_the_welcome_page_may_be_opened_itself"),
    ("unsolicited link", "EmailLinks", "test_a_link_that_nobody_asked_for"),
    ("link opened twice", "EmailLinks", "test_a_link_opened_twice"),
    ("link opened in another browser", "EmailLinks", "test_a_link_opened_in_another_browser"),
    ("link burnt by a scanner", "EmailLinks", "test_a_link_burnt_by_a_mail_scanner"),
    ("expired link", "EmailLinks", "test_a_link_that_is_too_old"),
    ("fallback link", "EmailLinks", "test_a_gateway_that_lost_its_way"),
    ("fallback, login_required", "EmailLinks", "test_login_required_leads_back"),
    ("closed tab is a hint", "EmailLinks", "test_a_closed_tab_is_a_hint"),
    ("logout", "Logout", "test_local_first"),
    ("logout during a renewal", "Logout", "test_a_renewal_in_flight"),
    ("deregister", "Logout", "test_deregistration"),
    ("social", "Social", "test_the_connection_by_each_name"),
    ("passwordless, code by e-mail", "Passwordless", "test_a_code_by_mail"),
    ("passwordless, code by SMS", "Passwordless", "test_a_code_by_sms"),
    ("passwordless, magic link", "Passwordless", "test_a_link_by_mail"),
    ("step-up", "StepUp", "test_success_replaces_the_tokens"),
    ("check, verified e-mail, profile, reports", "BackEnd", "test_the_check_stands_before_h"),
    ("stand-in token", "Machine", "test_a_platform_that_is_not_native"),
    ("platform ready", "Machine", "test_requests_wait_for_the_platform"),
    ("account.read", "Machine", "test_what_is_captured_can_be_read"),
    ("redirect.route", "Machine", "test_a_url_is_routed"),
    ("another app in two steps", "OtherApp", "test_the_whole_way"),
    ("another app, then a PIN", "PINStep", "test_the_profile_is_shown_and_confirmed_behind_the_pin"),
    ("PIN", "PIN", "test_it_shuts_the_account"),
    ("back end, one-time code", "AnotherBackEnd", "test_a_session_that_expired"),
    ("device grant", "Device", "test_the_whole_way"),
    ("pushed requests", "PushedRequests", "test_the_url_carries_a_name"),
    ("DPoP", "DPoP", "test_the_whole_way"),
    ("introspection", "Introspection", "test_both_tokens"),
    ("diagnostics", "Diagnostics", "test_everything_useful"),
)


def main():
    # The format is "test_x (module.Class from face.test_x) ... ok"; a line of the docstring may be in between.
    said = re.findall(
        r"^(test_\w+) \(\w+\.(\w+)(?: on [^)\n]+?)? from ([\w-]+)\.test_\w+\)(?:\n[^\n]*?)? \.\.\. (ok|FAIL|ERROR|skipped)",
        sys.stdin.read(), re.M,
    )
    print(f"| flow | {' | '.join(FACES)} |\n| --- | {' | '.join('---' for _ in FACES)} |")
    missing = 0
    for flow, case, test in FLOWS:
        cells = []
        for faces in FACES.values():
            passed = sorted(
                f"`{found}.{name}`"
                for name, found, face, result in said
                if face in faces and result == "ok" and found.startswith(case) and test in name
            )
            missing += not passed
            cells.append(passed[0] if passed else "**none**")
        print(f"| {flow} | {' | '.join(cells)} |")
    print(f"\n{len(FLOWS)} flows, {len(said)} tests read, {missing} cells without a passing test")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
