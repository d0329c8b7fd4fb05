// Keeps the page of a run up to date while the run goes on. Without it the page is whole,
// and is up to date when it is loaded.
'use strict';
(() => {
  const page = document.querySelector('[data-events]');

  // A link to an execution opens it.
  const reveal = () => {
    const at = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (at && at.tagName === 'DETAILS') { at.open = true; at.scrollIntoView({ block: 'nearest' }); }
  };
  addEventListener('hashchange', reveal);
  reveal();
  if (!page) return;

  const parse = (html) => {
    const t = document.createElement('template');
    t.innerHTML = html;
    return t.content;
  };
  const put = (id, html) => {
    const old = document.getElementById(id);
    const next = parse(html);
    if (!old || !next.firstElementChild) return;
    for (const d of old.querySelectorAll('details[data-chosen]')) { // what somebody opened stays open
      const same = next.getElementById(d.id);
      if (same) { same.open = d.open; same.dataset.chosen = ''; }
    }
    old.replaceWith(next.firstElementChild);
    if (id === 'head') {
      const word = document.querySelector('#head .big');
      document.title = document.title.replace(/^\S+/, word ? word.textContent : '');
    }
  };
  const append = (to, html) => {
    const list = document.getElementById(to);
    const next = parse(html).firstElementChild;
    if (!list || !next) return;
    const known = document.getElementById(next.id);
    if (!known) list.append(next);
  };

  page.addEventListener('click', (e) => {
    const summary = e.target.closest('summary');
    if (summary) summary.parentElement.dataset.chosen = '';
  });

  const source = new EventSource(page.dataset.events);
  source.addEventListener('put', (e) => { const m = JSON.parse(e.data); put(m.id, m.html); });
  source.addEventListener('append', (e) => { const m = JSON.parse(e.data); append(m.to, m.html); });
  source.addEventListener('end', () => { source.close(); clearInterval(clock); });
  source.addEventListener('open', () => page.classList.remove('cut'));
  source.addEventListener('error', () => {
    page.classList.add('cut');
    if (source.readyState === EventSource.CLOSED) clearInterval(clock); // somebody must load the page again
  });

  const took = (s) => (s < 60 ? s + 's' : s < 3600 ? Math.floor(s / 60) + 'm ' + String(s % 60).padStart(2, '0') + 's' : Math.floor(s / 3600) + 'h ' + String(Math.floor(s / 60) % 60).padStart(2, '0') + 'm');
  const clock = setInterval(() => {
    for (const e of document.querySelectorAll('[data-since]')) {
      const s = Math.floor((Date.now() - Date.parse(e.dataset.since)) / 1000);
      if (s >= 0) e.textContent = took(s);
    }
  }, 1000);
})();
