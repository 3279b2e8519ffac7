"""Canaille as a SCIM directory and as a provider, with the same users."""

from canaille_provider import Canaille

CLIENT = "gateway-scim"
SECRET = "the gateway's own at SCIM: %&=+/"


class ScimCanaille(Canaille):
    """Canaille with an additional client that gets tokens for itself (client credentials). Canaille ignores
    filters, and lists all users."""

    name = "Canaille with SCIM"

    def settings(self, text):
        return text + "[CANAILLE_SCIM]\nENABLE_SERVER = true\n"

    def seed_clients(self):
        return super().seed_clients() + [
            {
                "client_id": CLIENT, "client_name": "The gateway", "client_secret": SECRET,
                "token_endpoint_auth_method": "client_secret_basic", "grant_types": ["client_credentials"],
                "redirect_uris": [self.loopback], "response_types": ["code"], "scope": ["openid"],
            }
        ]  # fmt: skip

    def directory_settings(self, **changes):
        """The gateway's settings for this directory."""
        return {
            "kind": "scim", "url": f"{self.base}/scim/v2", "tokenUri": f"{self.base}/oauth/token", "clientId": CLIENT,
            "clientSecret": SECRET, **changes,
        }  # fmt: skip
