// A C++ program that signs in. It uses only the installed header: smart pointers own the handles and buffers, and
// errors are thrown as exceptions. It prints what Examples/sign_in.c prints.

#include <enroll.h>

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace {

constexpr int64_t minute = 60'000;

struct Error : std::runtime_error {
  explicit Error(const enroll_error &error)
      : std::runtime_error(std::string(enroll_status_name(error.status)) + ": " + error.message) {}
};

// Calls a function whose last argument is the error, and throws that error if the call fails.
template <typename Function, typename... Arguments>
void call(Function function, Arguments... arguments) {
  enroll_error error = ENROLL_ERROR_INIT;
  if (function(arguments..., &error) != ENROLL_OK) throw Error(error);
}

class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer() { enroll_buf_free(&bytes_); }
  enroll_buf *fill() {
    enroll_buf_free(&bytes_);
    return &bytes_;
  }
  std::string_view text() const { return {bytes_.data, bytes_.size}; }

 private:
  enroll_buf bytes_ = ENROLL_BUF_INIT;
};

struct Free {
  void operator()(enroll_client *client) const { enroll_client_free(client); }
};
using Client = std::unique_ptr<enroll_client, Free>;

Client open(const std::string &issuer, const std::string &store) {
  const std::string configuration = R"({"issuer": ")" + issuer +
                                    R"(", "clientId": "sample-app", "redirectUri": "http://127.0.0.1/callback",)"
                                    R"( "scopes": "openid profile email offline_access", "allowLoopbackHTTP": true})";
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration = configuration.data();
  options.configuration_size = configuration.size();
  options.store_directory = store.data();
  options.store_directory_size = store.size();
  enroll_client *client = nullptr;
  call(enroll_client_new, &options, &client);
  return Client(client);
}

void sign_in(enroll_client *client) {
  enroll_transaction transaction = ENROLL_TRANSACTION_INIT;
  Buffer url;
  call(enroll_registration_begin, client, nullptr, minute, &transaction, url.fill(), nullptr);
  std::cout << "Open this in your browser: " << url.text() << std::endl;
  enroll_state state = ENROLL_STATE_INIT;
  call(enroll_registration_await_outcome, client, transaction.id, ENROLL_NUL_TERMINATED, 10 * minute, &state);
  if (state.kind != ENROLL_STATE_AWAITING_CONFIRMATION) return;
  Buffer profile;
  call(enroll_identity_profile, client, profile.fill());
  std::cout << "Hello, " << profile.text() << "; is this you?\n";
  call(enroll_registration_confirm, client, &state);
}

}  // namespace

int main(int count, char **arguments) try {
  if (count != 3) throw std::invalid_argument("ISSUER STORE were expected");
  const Client client = open(arguments[1], arguments[2]);
  sign_in(client.get());

  enroll_access access = ENROLL_ACCESS_INIT;
  Buffer token;
  call(enroll_token_access, client.get(), 0, minute, &access, token.fill());
  std::cout << "A valid token of " << token.text().size() << " bytes.\n";

  // The error must arrive as an exception whose text begins with the name of the status.
  try {
    call(enroll_logout_resume, client.get(), "not a url", ENROLL_NUL_TERMINATED);
    return 1;
  } catch (const Error &error) {
    if (std::string_view(error.what()).find("redirectMalformed") != 0) throw;
  }

  Buffer url;
  call(enroll_logout_begin, client.get(), 0, minute, url.fill());
  std::cout << "To end the browser's session, open: " << url.text() << "\n";
  return 0;
} catch (const std::exception &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
