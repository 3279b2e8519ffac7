// A block of code that scrolls is reached by the keyboard (WCAG 2.1.1).
for (const code of document.querySelectorAll('pre > code')) {
  if (code.scrollWidth > code.clientWidth) code.tabIndex = 0;
}

// The buttons of a block of code are a landmark of their own, with a name (WCAG 1.3.1).
function nameCode() {
  document.querySelectorAll('.md-code__nav:not([aria-label])').forEach((nav) => {
    const block = nav.closest('pre, .highlight');
    const number = [...document.querySelectorAll('pre')].indexOf(block?.matches('pre') ? block : block?.querySelector('pre')) + 1;
    nav.setAttribute('aria-label', `Code block ${number}`);
  });
}
new MutationObserver(nameCode).observe(document.body, { childList: true, subtree: true });
nameCode();
