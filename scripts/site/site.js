// A code block that scrolls can be reached by the keyboard (WCAG 2.1.1).
for (const code of document.querySelectorAll('pre > code')) {
  if (code.scrollWidth > code.clientWidth) code.tabIndex = 0;
}

// Content that continues beyond the right edge fades there, until it is scrolled to its end.
const edges = new ResizeObserver((changes) => changes.forEach(({ target }) => fade(target.closest('.table, .diagram') ?? target)));
function fade(box) {
  box.classList.toggle('goes-on', box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
}
for (const box of document.querySelectorAll('.table, .diagram, pre > code')) {
  box.addEventListener('scroll', () => fade(box), { passive: true });
  edges.observe(box);
  for (const inner of box.matches('code') ? [] : box.children) edges.observe(inner);
}

// The buttons of a code block are a separate landmark, with a name (WCAG 1.3.1).
function nameCode() {
  document.querySelectorAll('.md-code__nav:not([aria-label])').forEach((nav) => {
    const block = nav.closest('pre, .highlight');
    const number = [...document.querySelectorAll('pre')].indexOf(block?.matches('pre') ? block : block?.querySelector('pre')) + 1;
    nav.setAttribute('aria-label', `Code block ${number}`);
  });
}
new MutationObserver(nameCode).observe(document.body, { childList: true, subtree: true });
nameCode();
