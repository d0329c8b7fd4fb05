// Keeps a page up to date while what it shows goes on, and loads long outputs when they are
// opened. Without it the page is whole as of when it was loaded, and links lead to outputs.
'use strict';
(() => {
  const parse = (html) => {
    const t = document.createElement('template');
    t.innerHTML = html;
    return t.content;
  };

  // A link to an execution opens it.
  const reveal = () => {
    const at = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (at && at.tagName === 'DETAILS') { at.open = true; at.scrollIntoView({ block: 'nearest' }); }
  };
  addEventListener('hashchange', reveal);

  // What an execution wrote is loaded when it is opened. Where that fails its link is still there.
  const load = async (place) => {
    const url = place.dataset.load;
    delete place.dataset.load;
    try {
      const answer = await fetch(url);
      if (!answer.ok) throw new Error(answer.status);
      const outputs = parse(await answer.text());
      place.replaceWith(outputs);
    } catch {
      place.dataset.load = url;
    }
  };
  document.addEventListener('toggle', (e) => {
    const place = e.target.open && e.target.querySelector('[data-load]');
    if (place) load(place);
  }, true);
  reveal();

  const page = document.querySelector('[data-events]');
  if (!page) return;

  const put = (id, html) => {
    const old = document.getElementById(id);
    const next = parse(html);
    if (!old || !next.firstElementChild) return;
    for (const d of old.querySelectorAll('details[data-chosen]')) { // what somebody opened stays open
      const same = next.getElementById(d.id);
      if (same) { same.open = d.open; same.dataset.chosen = ''; }
    }
    const focused = old.contains(document.activeElement) && document.activeElement;
    const written = [...old.querySelectorAll('input:not([type=hidden])')].map((e) => [e.name, e.value]);
    old.replaceWith(next.firstElementChild);
    const now = document.getElementById(id);
    for (const [name, value] of written) { // and what somebody wrote is still there
      const same = now.querySelector(`input[name="${CSS.escape(name)}"]`);
      if (same) same.value = value;
    }
    if (focused) { // who goes by keyboard is not thrown back to the beginning
      const same = [...now.querySelectorAll('a, button, summary, input, [tabindex]')].find((e) =>
        e.tagName === focused.tagName && e.textContent === focused.textContent && e.getAttribute('href') === focused.getAttribute('href'));
      if (same) same.focus({ preventScroll: true });
    }
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

  const connection = document.getElementById('connection');
  const say = (text) => {
    if (connection.textContent === text) return;
    connection.textContent = text;
    connection.hidden = !text;
  };
  const retry = 10000; // milliseconds
  const connect = () => {
    const source = new EventSource(page.dataset.events);
    source.addEventListener('put', (e) => { const m = JSON.parse(e.data); put(m.id, m.html); });
    source.addEventListener('append', (e) => { const m = JSON.parse(e.data); append(m.to, m.html); });
    source.addEventListener('end', () => { source.close(); say(''); clearInterval(clock); });
    source.addEventListener('open', () => { page.classList.remove('cut'); say(''); });
    source.addEventListener('error', () => {
      if (!page.classList.contains('cut')) {
        page.classList.add('cut');
        say('The connection to the server was lost at ' + new Date().toLocaleTimeString() + '. This page shows what was known then, and tries to connect again.');
      }
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, retry); // browsers give up after an answer that is no stream
    });
  };

  const took = (s) => (s < 60 ? s + 's' : s < 3600 ? Math.floor(s / 60) + 'm ' + String(s % 60).padStart(2, '0') + 's' : Math.floor(s / 3600) + 'h ' + String(Math.floor(s / 60) % 60).padStart(2, '0') + 'm');
  const clock = setInterval(() => {
    for (const e of document.querySelectorAll('[data-since]')) {
      const s = Math.floor((Date.now() - Date.parse(e.dataset.since)) / 1000);
      if (s >= 0) e.textContent = took(s);
    }
  }, 1000);
  connect();
})();
