// The Apps of the overlay: made of a manifest, installed and removed on GitHub's pages, and
// asked for by the people who log in with them. The login itself is emulate's own.
import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto'

const slugOf = (name) => name.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')
const escape = (s) => String(s).replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c])
const hour = 3600 * 1000
const now = () => new Date().toISOString()

// lacks says what a manifest lacks that GitHub wants of it. That its permissions cover its
// events, which GitHub wants too, is not looked at.
const lacks = (m) => {
  const out = []
  if (!m.url) out.push("Url can't be blank")
  if (m.hook_attributes && !m.hook_attributes.url) out.push("Hook url can't be blank")
  if (!m.redirect_url) out.push("Redirect url can't be blank")
  if ((m.name ?? '').length > 34) out.push('Name is too long (maximum is 34 characters)')
  // Every App gets these, and none may ask for them.
  const given = (m.default_events ?? []).filter((e) => /^(installation|installation_repositories|github_app_authorization|ping)$/.test(e))
  if (given.length) out.push(`Default events unsupported: ${given.join(' and ')}`)
  return out
}

// addApps adds the routes, and returns what installs and removes an App without a page.
export function addApps({ route, gh, store, tokenMap, baseUrl, user, roleOf, self, page, err }) {
  const made = new Map() // app_id -> what emulate does not keep of an App
  const drafts = new Map() // manifests that wait for somebody to confirm them
  const codes = new Map() // code -> app_id and when it was given

  // ---------- pages, for who is signed in
  const sessions = () => {
    const name = 'github.oauth.sessionMap' // emulate's
    if (!store.getData(name)) store.setData(name, new Map())
    return store.getData(name)
  }
  const viewer = (c) => {
    const id = (c.req.header('Cookie') ?? '').match(/(?:^|; )_emu_session=([^;]+)/)?.[1]
    return gh.users.findOneBy('login', sessions().get(id) ?? '') ?? null
  }
  const html = (c, title, body, status = 200) =>
    c.html(`<!doctype html><meta charset="utf-8"><title>${escape(title)}</title><h1>${escape(title)}</h1>${body}`, status)
  const missing = (c) => html(c, 'Page not found', '', 404)
  const button = (name, value, text) => `<button name="${name}" value="${escape(value)}">${escape(text)}</button>`
  const signIn = (c) => c.redirect(`/login?return_to=${encodeURIComponent(new URL(c.req.url).pathname)}`, 302)
  const form = async (c) => new URLSearchParams(await c.req.text())

  route('GET', '/login', (c) => {
    const people = gh.users.all().filter((u) => u.type === 'User')
    return html(c, 'Sign in to GitHub', `<form method="post" action="/session">
<input type="hidden" name="return_to" value="${escape(c.req.query('return_to') ?? '/')}">
${people.map((u) => button('login', u.login, u.login)).join('')}</form>`)
  })
  route('POST', '/session', async (c) => {
    const f = await form(c)
    const to = f.get('return_to') ?? '/'
    if (!gh.users.findOneBy('login', f.get('login') ?? '') || !/^\/(?!\/)/.test(to)) return missing(c)
    const id = randomBytes(24).toString('base64url')
    sessions().set(id, f.get('login'))
    c.header('Set-Cookie', `_emu_session=${id}; Path=/; HttpOnly; SameSite=Lax`)
    return c.redirect(to, 302)
  })

  // ---------- an App is made of a manifest
  // The form comes from another site, without the session's cookie; the page after it has it.
  const take = async (c) => {
    const id = randomBytes(8).toString('hex')
    const f = await form(c)
    drafts.set(id, { text: f.get('manifest'), state: c.req.query('state') ?? f.get('state'), org: c.req.param('org') })
    return c.redirect(`/settings/apps/manifests/${id}`, 303)
  }
  route('POST', '/settings/apps/new', take)
  route('POST', '/organizations/:org/settings/apps/new', take)
  const ownerOf = (draft, u) => {
    if (!draft.org) return { row: u, type: 'User' }
    const org = gh.orgs.findOneBy('login', draft.org)
    return org && rules(u, org.id, 'Organization') ? { row: org, type: 'Organization' } : null
  }
  const rules = (u, id, type) =>
    type === 'User' ? u.id === id : roleOf({ id: -1, owner_id: id, owner_type: type, private: true }, u) === 'admin'
  const draftOf = (c) => {
    const draft = drafts.get(c.req.param('id'))
    const u = viewer(c)
    return { draft, u, owner: draft && u && ownerOf(draft, u) }
  }
  route('GET', '/settings/apps/manifests/:id', (c) => {
    const { draft, u, owner } = draftOf(c)
    if (draft && !u) return signIn(c)
    if (!owner) return missing(c)
    let m
    try {
      m = JSON.parse(draft.text)
    } catch {
      m = {}
    }
    const wrong = lacks(m)
    if (wrong.length) return html(c, 'Invalid GitHub App configuration', wrong.map((w) => `<p>Error ${escape(w)}</p>`).join(''), 422)
    return html(c, 'Create GitHub App', `<form method="post"><label>GitHub App name <input name="name" value="${escape(m.name ?? '')}"></label>
${button('create', owner.row.login, `Create GitHub App for ${owner.row.login}`)}</form>`)
  })
  route('POST', '/settings/apps/manifests/:id', async (c) => {
    const { draft, owner } = draftOf(c)
    if (!owner) return missing(c)
    const m = JSON.parse(draft.text)
    const name = ((await form(c)).get('name') ?? '').trim()
    const wrong = lacks({ ...m, name })
    if (!name) wrong.push("Name can't be blank")
    if (gh.apps.all().some((a) => a.slug === slugOf(name))) wrong.push('Name is already taken')
    if (wrong.length) return html(c, 'Invalid GitHub App configuration', wrong.map((w) => `<p>Error ${escape(w)}</p>`).join(''), 422)
    drafts.delete(c.req.param('id'))
    const code = randomBytes(20).toString('hex')
    codes.set(code, { app_id: make(m, name, owner), at: Date.now() })
    const back = new URL(m.redirect_url)
    back.searchParams.set('code', code)
    if (draft.state) back.searchParams.set('state', draft.state)
    return c.redirect(back.href, 302)
  })
  const make = (m, name, owner) => {
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    const app_id = Math.max(...gh.apps.all().map((a) => a.app_id)) + 1
    const secrets = {
      client_id: `Iv23li${randomBytes(7).toString('hex')}`,
      client_secret: randomBytes(20).toString('hex'),
      webhook_secret: randomBytes(20).toString('hex'),
    }
    gh.apps.insert({
      app_id,
      slug: slugOf(name),
      name,
      private_key: privateKey,
      permissions: { ...m.default_permissions, metadata: 'read' },
      events: m.default_events ?? [],
      webhook_url: m.hook_attributes?.active === false ? null : (m.hook_attributes?.url ?? null),
      webhook_secret: secrets.webhook_secret,
      description: m.description ?? null,
    })
    gh.oauthApps.insert({ client_id: secrets.client_id, client_secret: secrets.client_secret, name, redirect_uris: m.callback_urls ?? [] })
    made.set(app_id, { ...secrets, owner, url: m.url, setup_url: m.setup_url, public: m.public ?? false })
    return app_id
  }
  route('POST', '/app-manifests/:code/conversions', (c) => {
    const code = codes.get(c.req.param('code'))
    codes.delete(c.req.param('code')) // it is good once
    if (!code || Date.now() - code.at > hour) return err(c, 404, 'Not Found')
    const a = gh.apps.findOneBy('app_id', code.app_id)
    const { owner, url, client_id, client_secret, webhook_secret } = made.get(a.app_id)
    return c.json(
      {
        id: a.app_id,
        slug: a.slug,
        node_id: `A_${a.app_id}`,
        owner: { ...user(owner.row), type: owner.type },
        name: a.name,
        description: a.description,
        external_url: url,
        html_url: `${baseUrl}/apps/${a.slug}`,
        created_at: a.created_at,
        updated_at: a.updated_at,
        permissions: a.permissions,
        events: a.events,
        client_id,
        client_secret,
        webhook_secret,
        pem: a.private_key,
      },
      201,
    )
  })

  // ---------- it is installed, or removed: the event goes to the App itself
  const reposOf = (row) =>
    gh.repos
      .all()
      .filter((r) => r.owner_id === row.account_id && r.owner_type === row.account_type)
      .filter((r) => row.repository_selection !== 'selected' || row.repository_ids.includes(r.id))
  const described = (row) => {
    const a = gh.apps.findOneBy('app_id', row.app_id)
    const owner = (row.account_type === 'User' ? gh.users : gh.orgs).get(row.account_id)
    return {
      id: row.installation_id,
      account: { ...user(owner), type: row.account_type },
      repository_selection: row.repository_selection,
      access_tokens_url: `${baseUrl}/app/installations/${row.installation_id}/access_tokens`,
      repositories_url: `${baseUrl}/installation/repositories`,
      html_url: `${baseUrl}/settings/installations/${row.installation_id}`,
      app_id: row.app_id,
      app_slug: a.slug,
      target_id: row.account_id,
      target_type: row.account_type,
      permissions: row.permissions,
      events: row.events,
      created_at: now(),
      updated_at: now(),
      single_file_name: null,
      suspended_by: null,
      suspended_at: null,
    }
  }
  const tell = async (row, action, sender) => {
    const a = gh.apps.findOneBy('app_id', row.app_id)
    if (!a.webhook_url) return
    const repositories = reposOf(row).map((r) => ({ id: r.id, node_id: `R_${r.id}`, name: r.name, full_name: r.full_name, private: r.private }))
    const body = JSON.stringify({ action, installation: described(row), repositories, requester: null, sender: user(sender) })
    const signature = createHmac('sha256', a.webhook_secret).update(body).digest('hex')
    const headers = { 'Content-Type': 'application/json', 'X-GitHub-Event': 'installation', 'X-Hub-Signature-256': `sha256=${signature}` }
    try {
      await fetch(a.webhook_url, { method: 'POST', headers, body })
    } catch {} // nobody is there: GitHub does not care
  }

  let installed = 0
  const removed = new Map() // app_id -> its last installation
  const installation = async ({ app_id, action, sender }) => {
    let row = gh.appInstallations.all().find((x) => x.app_id === app_id)
    if (action === 'deleted') {
      const { id, ...rest } = row
      removed.set(app_id, rest)
      gh.appInstallations.delete(id)
    } else {
      const { created_at, updated_at, ...rest } = removed.get(app_id)
      row = gh.appInstallations.insert({ ...rest, installation_id: rest.installation_id + 100000 + installed++ })
    }
    await tell(row, action, gh.users.findOneBy('login', sender))
    return Response.json({ id: row.installation_id })
  }

  // An App that is not public can only be installed by who owns it.
  const installable = (c) => {
    const a = gh.apps.findOneBy('slug', c.req.param('slug'))
    const more = a && made.get(a.app_id)
    const u = viewer(c)
    if (!more || !u) return { a, u }
    const target = more.public ? { row: u, type: 'User' } : more.owner
    return { a, u, more, target: rules(u, target.row.id, target.type) ? target : null }
  }
  route('GET', '/apps/:slug/installations/new', (c) => {
    const { a, u, target } = installable(c)
    if (a && !u) return signIn(c)
    if (!target) return missing(c)
    const repos = gh.repos.all().filter((r) => r.owner_id === target.row.id && r.owner_type === target.type)
    return html(c, `Install ${a.name} on ${target.row.login}`, `<form method="post">
<label><input type="radio" name="repository_selection" value="all" checked> All repositories</label>
<label><input type="radio" name="repository_selection" value="selected"> Only select repositories</label>
${repos.map((r) => `<label><input type="checkbox" name="repository_ids" value="${r.id}" data-name="${escape(r.full_name)}"> ${escape(r.full_name)}</label>`).join('')}
<button>Install</button></form>`)
  })
  route('POST', '/apps/:slug/installations/new', async (c) => {
    const { a, u, more, target } = installable(c)
    if (!target) return missing(c)
    const f = await form(c)
    const selected = f.get('repository_selection') === 'selected'
    const row = gh.appInstallations.insert({
      installation_id: 500000 + gh.appInstallations.all().length,
      app_id: a.app_id,
      account_type: target.type,
      account_id: target.row.id,
      account_login: target.row.login,
      repository_selection: selected ? 'selected' : 'all',
      repository_ids: selected ? f.getAll('repository_ids').map(Number) : [],
      permissions: a.permissions,
      events: a.events,
      suspended_at: null,
    })
    await tell(row, 'created', u)
    return c.redirect(more.setup_url ?? `/settings/installations/${row.installation_id}`, 302)
  })
  route('GET', '/settings/installations/:id', (c) => {
    const row = gh.appInstallations.all().find((x) => x.installation_id === +c.req.param('id'))
    const u = viewer(c)
    if (!row || !u || !rules(u, row.account_id, row.account_type)) return missing(c)
    const a = gh.apps.findOneBy('app_id', row.app_id)
    return html(c, `${a.name} is installed`, `<ul>${reposOf(row).map((r) => `<li>${escape(r.full_name)}</li>`).join('')}</ul>`)
  })

  // ---------- what somebody who logged in with an App may read, and the end of the login
  const loggedIn = (c) => {
    const token = (c.req.header('Authorization') ?? '').replace(/^(Bearer|token)\s+/i, '').trim()
    const client = store.getData('github.oauth.tokenToClientId')?.get(token)
    const app_id = [...made.keys()].find((id) => made.get(id).client_id === client)
    return { app_id, u: gh.users.findOneBy('login', tokenMap.get(token)?.login ?? '') }
  }
  // What everybody may read is not among them.
  const explicit = (row, u) => reposOf(row).filter((r) => roleOf({ ...r, private: true }, u) !== 'none')
  route('GET', '/user/installations', (c) => {
    const { app_id, u } = loggedIn(c)
    if (!app_id || !u) return err(c, 403, 'You must authenticate with an access token authorized to a GitHub App in order to list installations')
    const rows = gh.appInstallations.findBy('app_id', app_id).filter((row) => explicit(row, u).length)
    return c.json({ total_count: rows.length, installations: page(c, rows.map(described)) })
  })
  route('GET', '/user/installations/:id/repositories', async (c) => {
    const { app_id, u } = loggedIn(c)
    const row = gh.appInstallations.all().find((x) => x.installation_id === +c.req.param('id') && x.app_id === app_id)
    if (!row || !u) return err(c, 404, 'Not Found')
    const list = []
    for (const r of explicit(row, u)) {
      const rank = ['read', 'triage', 'write', 'maintain', 'admin'].indexOf(roleOf(r, u))
      const permissions = { pull: rank >= 0, triage: rank >= 1, push: rank >= 2, maintain: rank >= 3, admin: rank >= 4 }
      list.push({ ...(await (await self(c, `/repos/${r.full_name}`)).json()), permissions })
    }
    return c.json({ total_count: list.length, repository_selection: row.repository_selection, repositories: page(c, list) })
  })
  route('DELETE', '/applications/:client/token', async (c) => {
    const [id, secret] = Buffer.from((c.req.header('Authorization') ?? '').replace(/^Basic /i, ''), 'base64').toString().split(':')
    const a = gh.oauthApps.findOneBy('client_id', c.req.param('client'))
    if (!a || id !== a.client_id || secret !== a.client_secret) return err(c, 404, 'Not Found')
    const { access_token } = JSON.parse(await c.req.text())
    if (store.getData('github.oauth.tokenToClientId')?.get(access_token) !== id || !tokenMap.delete(access_token)) return err(c, 404, 'Not Found')
    return c.body(null, 204)
  })

  return installation
}
