// The style of every page: one inline style sheet, no script, no external resource. System fonts, light and dark, readable from
// 320 pixels up and at 200 % zoom; text contrast at least 4.5 to 1, borders of controls 3 to 1, targets at least 44 pixels high
// (WCAG 2.2 AA).

enum Style {
  static let sheet = """
    :root{color-scheme:light dark;--page:#f3f5f8;--card:#fff;--text:#1b2430;--soft:#4a5768;--line:#d5dbe3;\
    --edge:#6b7787;--accent:#0b5cad;--on-accent:#fff;--accent-dark:#084785;--note:#eaf2fb;--bad:#a1160b;\
    --bad-page:#fdeeec}
    @media (prefers-color-scheme:dark){:root{--page:#11161d;--card:#1a212b;--text:#e8edf3;--soft:#b1bccb;\
    --line:#323d4b;--edge:#8794a6;--accent:#8cc2ff;--on-accent:#0a1420;--accent-dark:#b7d9ff;--note:#1d2c3d;\
    --bad:#ffb0a6;--bad-page:#3a1d1b}}
    *{box-sizing:border-box}
    body{margin:0;background:var(--page);color:var(--text);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",\
    Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:break-word}
    .frame{max-width:30rem;min-height:100vh;margin:0 auto;padding:1.25rem 1rem 2rem;display:flex;\
    flex-direction:column;gap:1.25rem}
    .wide{max-width:46rem}
    header{display:flex;align-items:center;gap:.6rem;font-weight:600;padding-top:clamp(0rem,4vh,3.5rem)}
    header svg{width:1.9rem;height:1.9rem;flex:none}
    .tag{font-size:.8rem;font-weight:600;color:var(--accent);background:var(--note);border-radius:99px;\
    padding:.1rem .65rem}
    main{background:var(--card);border:1px solid var(--line);border-radius:.9rem;\
    padding:clamp(1.25rem,5vw,2rem);box-shadow:0 1px 2px #0000000d,0 8px 24px #0000000d}
    h1{font-size:1.55rem;line-height:1.25;margin:0 0 .35rem;letter-spacing:-.01em}
    h2{font-size:1.05rem;margin:1.6rem 0 .4rem}
    p{margin:.35rem 0 1rem}
    .soft{color:var(--soft)}
    .small{font-size:.9rem}
    label{display:block;font-weight:600;margin:1rem 0 .3rem}
    .hint{font-size:.9rem;color:var(--soft);margin:-.2rem 0 .35rem}
    .wrong{color:var(--bad);font-weight:600}
    input{font:inherit;color:inherit;background:var(--card);width:100%;min-height:2.9rem;padding:.5rem .75rem;\
    border:1px solid var(--edge);border-radius:.5rem}
    input[aria-invalid=true]{border-color:var(--bad);box-shadow:0 0 0 1px var(--bad)}
    button{font:inherit;font-weight:600;width:100%;min-height:2.9rem;padding:.55rem 1rem;border-radius:.5rem;\
    border:1px solid var(--accent);background:var(--accent);color:var(--on-accent);cursor:pointer;margin-top:.75rem}
    button:hover{background:var(--accent-dark);border-color:var(--accent-dark)}
    button.quiet{background:transparent;color:var(--accent);border-color:var(--edge)}
    button.quiet:hover{background:var(--note)}
    form>button:first-of-type{margin-top:1.5rem}
    form+p{margin:1.25rem 0 0}
    a{color:var(--accent);text-underline-offset:.15em}
    :focus-visible{outline:3px solid var(--accent);outline-offset:2px}
    .alert{border:1px solid var(--bad);border-left-width:.35rem;border-radius:.5rem;background:var(--bad-page);\
    color:var(--bad);padding:.6rem .85rem;margin:1rem 0;font-weight:600}
    .note{background:var(--note);border-radius:.75rem;padding:.9rem 1.1rem}
    .note p{margin:.2rem 0 .5rem}
    .note h2{margin:0 0 .3rem}
    .note p:last-child{margin-bottom:0}
    ul.grants{list-style:none;margin:1rem 0;padding:0;border-top:1px solid var(--line)}
    ul.grants li{padding:.7rem 0;border-bottom:1px solid var(--line)}
    ul.grants strong{display:block}
    ul.grants:last-child{margin-bottom:0}
    ul.grants:last-child li:last-child{border-bottom:0;padding-bottom:0}
    ul.grants p:last-child{margin-bottom:.25rem}
    code,pre{font:.92em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
    pre{background:var(--note);border-radius:.5rem;padding:.9rem 1rem;overflow-x:auto;margin:.5rem 0}
    .scroll{overflow-x:auto}
    table{border-collapse:collapse;width:100%}
    th,td{text-align:left;padding:.45rem .9rem .45rem 0;border-bottom:1px solid var(--line);vertical-align:top}
    thead th{font-size:.9rem;color:var(--soft)}
    th{font-weight:600}
    tbody tr:last-child>*{border-bottom:0}
    td,tbody th{overflow-wrap:anywhere}
    footer{color:var(--soft);font-size:.9rem;margin-top:auto}
    @media (forced-colors:active){button,input,main{border:1px solid}}
    """
}
