// The page of the app. The app was never run here: see README.md.

const button = (id) => document.getElementById(id);
const show = (state) => {
  button('state').textContent = state;
  button('sign-in').hidden = state === 'active' || state === 'awaitingConfirmation';
  button('confirm').hidden = state !== 'awaitingConfirmation';
  button('sign-out').hidden = state !== 'active';
};
const act = (run) => () => run().catch((error) => (button('state').textContent = `failed: ${error.message}`));

button('sign-in').onclick = act(() => window.session.signIn());
button('confirm').onclick = act(() => window.session.confirm());
button('sign-out').onclick = act(() => window.session.signOut());
window.session.onChange(show);
act(async () => show((await window.session.state()).state))();
