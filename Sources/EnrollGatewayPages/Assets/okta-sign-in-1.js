// For the sign-in page that Okta hosts: leads the browser to the gateway's own pages, with the request that waits there.
// Put into the page's HTML, after {{{OktaUtil}}}; `enroll-gateway check` prints the element, with its integrity.
// The gateway is where this file came from. A browser without scripts sees what else is in the page: put a link to the
// gateway there. This file never changes; another one gets another number.
(function () {
  "use strict";
  var gateway = new URL(document.currentScript.src).origin;
  var query = new URLSearchParams(location.search);

  // Okta's own steps of a sign-in by another provider.
  if (query.has("idp") || location.pathname.endsWith("/authorize/callback")) return;

  function told(name) {
    try {
      return window.OktaUtil[name]() || {};
    } catch (error) {
      return {};
    }
  }

  function inner(value, path) {
    return path.split(".").reduce(function (one, key) {
      return one === null || one === undefined ? undefined : one[key];
    }, value);
  }

  function first(values) {
    return values.find(function (value) {
      return typeof value === "string" && value !== "";
    });
  }

  function here(address) {
    try {
      var url = new URL(address, location.origin);
      return url.origin === location.origin ? url.href : undefined;
    } catch (error) {
      return undefined;
    }
  }

  var context = told("getRequestContext");
  var from = first([told("getSignInWidgetConfig").relayState, query.get("fromURI")]);
  if (!from && /\/authorize$/.test(location.pathname)) {
    // The page stands at the authorize address itself: the request is its query. With prompt=login it would end here again.
    var again = new URLSearchParams(query);
    again.delete("prompt");
    from = location.pathname + "?" + again;
  }
  var carried = new URLSearchParams();
  var fromURI = from && here(from);
  if (fromURI) carried.set("fromURI", fromURI);
  var client = first([inner(context, "target.clientId"), inner(context, "app.value.id"), query.get("client_id")]);
  if (client) carried.set("clientId", client);

  var token = query.get("activation_token") || "";
  var path = /^[A-Za-z0-9_-]{1,128}$/.test(token) ? "/welcome/" + token : "/signin";
  location.replace(gateway + path + (carried.toString() ? "?" + carried : ""));
})();
