// Fills the gaps of emulate's GitHub service, from within its process: what pull
// requests, checks, statuses, reactions, permissions, webhooks, Apps (apps.mjs) and git over HTTP
// do on github.com and emulate 0.11.2 does not. Tokens, App authentication,
// comments, contents and signatures stay emulate's own.
//
//   node --import ./gaps.mjs node_modules/emulate/dist/index.js start --service github …
//
// EMULATE_DIR is the package's folder, GAPS_GIT_ROOT where the bare repositories
// lie; what was there before is removed. GAPS_DEBUG=1 prints what git says when
// two sides do not merge.
import { readdirSync, readFileSync, mkdirSync, writeFileSync, existsSync, rmSync } from 'node:fs'
import { join, dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { execFileSync, spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { addApps } from './apps.mjs'

const dir = join(process.env.EMULATE_DIR, 'dist')
const file = readdirSync(dir).find(
  (f) => f.startsWith('dist-') && f.endsWith('.js') && readFileSync(join(dir, f), 'utf8').includes('var githubPlugin'),
)
const mod = await import(pathToFileURL(join(dir, file)).href)
const { githubPlugin, getGitHubStore } = mod
const ROOT = process.env.GAPS_GIT_ROOT ?? join(process.cwd(), 'emulate-git')
rmSync(ROOT, { recursive: true, force: true })
mkdirSync(ROOT, { recursive: true })
const Z = '0'.repeat(40)
const isGit = (p) => !p.startsWith('/repos/') && /\/(info\/refs|git-upload-pack|git-receive-pack)$/.test(p)
const now = () => new Date().toISOString()
const git = (repo, args, input) =>
  execFileSync('git', ['--git-dir', gitDir(repo), ...args], {
    input,
    maxBuffer: 1 << 28,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
const gitS = (repo, args, input) => git(repo, args, input).toString('utf8').trim()
const gitDir = (repo) => join(ROOT, `${repo.id}.git`)

// --- webhook headers as GitHub sends them (emulate: delivery id = Date.now()), and where
// the hosts are that have a name on the network only
const realFetch = globalThis.fetch
const hosts = new Map() // origin -> where it is on this machine
globalThis.fetch = (url, init) => {
  const h = init?.headers
  if (h && h['X-GitHub-Event']) {
    const to = hosts.get(new URL(url).origin)
    if (to) url = to + new URL(url).pathname
    init = {
      ...init,
      headers: {
        ...h,
        'X-GitHub-Delivery': randomUUID(),
        'User-Agent': 'GitHub-Hookshot/emulate',
        'X-GitHub-Hook-ID': '1',
        'X-GitHub-Hook-Installation-Target-Type': 'integration',
      },
    }
  }
  return realFetch(url, init)
}

const orig = githubPlugin.register
githubPlugin.register = function (app, store, webhooks, baseUrl, tokenMap) {
  const gh = getGitHubStore(store)
  const repoOf = (o, r) => gh.repos.findOneBy('full_name', `${o}/${r}`)
  const login = (r) => (r.owner_type === 'User' ? gh.users : gh.orgs).get(r.owner_id)?.login
  const err = (c, s, message, errors) =>
    c.json({ message, ...(errors ? { errors } : {}), documentation_url: 'https://docs.github.com/rest' }, s)
  const user = (u) =>
    u && {
      login: u.login,
      id: u.id,
      node_id: u.node_id || `U_${u.id}`,
      avatar_url: `${baseUrl}/avatars/u/${u.login}`,
      gravatar_id: '',
      url: `${baseUrl}/users/${u.login}`,
      html_url: `${baseUrl}/${u.login}`,
      type: u.type,
      site_admin: false,
    }
  const self = async (c, path, init = {}) => {
    // call emulate itself with the caller's credentials
    const a = c.req.header('Authorization')
    const r = await app.fetch(
      new Request(`http://internal${path}`, {
        ...init,
        headers: { ...(a ? { Authorization: a } : {}), 'Content-Type': 'application/json', ...(init.headers ?? {}) },
      }),
    )
    return r
  }
  const actorOf = (c) => {
    const a = c.get('authUser')
    if (!a) return null
    if (a.installation) {
      const ap = gh.apps.all().find((x) => x.app_id === a.installation.appId)
      return botUser(ap)
    }
    return gh.users.findOneBy('login', a.login)
  }
  const botUser = (ap) => {
    const l = `${ap.slug}[bot]`
    let u = gh.users.findOneBy('login', l)
    if (!u) {
      u = gh.users.insert({
        login: l,
        node_id: '',
        avatar_url: '',
        gravatar_id: '',
        type: 'Bot',
        site_admin: false,
        name: ap.name,
        company: null,
        blog: '',
        location: null,
        email: null,
        hireable: null,
        bio: null,
        twitter_username: null,
        public_repos: 0,
        public_gists: 0,
        followers: 0,
        following: 0,
      })
    }
    return u
  }
  const roleOf = (repo, u) => {
    let role = repo.private ? 'none' : 'read'
    if (repo.owner_type === 'User') {
      if (repo.owner_id === u.id) role = 'admin'
    } else
      for (const t of gh.teams.all().filter((t) => t.org_id === repo.owner_id)) {
        const m = gh.teamMembers.findBy('team_id', t.id).find((x) => x.user_id === u.id)
        if (m) role = m.role === 'maintainer' ? 'admin' : role === 'none' ? 'read' : role
      }
    const col = gh.collaborators.findBy('repo_id', repo.id).find((x) => x.user_id === u.id)
    const name = { pull: 'read', push: 'write' }
    if (col && role !== 'admin') role = name[col.permission] ?? col.permission
    return role
  }
  const appInfo = (id) => {
    const ap = gh.apps.all().find((x) => x.app_id === id)
    return (
      ap && {
        id: ap.app_id,
        slug: ap.slug,
        node_id: `A_${ap.app_id}`,
        name: ap.name,
        description: '',
        external_url: '',
        html_url: `${baseUrl}/apps/${ap.slug}`,
        created_at: ap.created_at,
        updated_at: ap.updated_at,
        permissions: ap.permissions,
        events: ap.events,
        owner: user(gh.users.all()[0]),
      }
    )
  }

  // ---------- git objects: emulate store <-> bare repository (object ids are real git SHA-1 in both)
  const done = new Map() // repo.id -> Set(sha)
  const ensureGit = (repo) => {
    const d = gitDir(repo)
    if (!existsSync(d)) {
      execFileSync('git', ['init', '-q', '--bare', '-b', repo.default_branch, d])
      gitS(repo, ['config', 'http.receivepack', 'true'])
      gitS(repo, ['config', 'uploadpack.allowAnySHA1InWant', 'true'])
      gitS(repo, ['config', 'receive.denyDeletes', 'false'])
    }
    const set = done.get(repo.id) ?? new Set()
    done.set(repo.id, set)
    const put = (type, sha, content) => {
      if (set.has(sha)) return
      const p = join(d, 'objects', sha.slice(0, 2), sha.slice(2))
      set.add(sha)
      if (existsSync(p)) return
      const raw = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
      if (createHash('sha1').update(raw).digest('hex') !== sha) return
      mkdirSync(dirname(p), { recursive: true })
      writeFileSync(p, deflateSync(raw))
    }
    for (const b of gh.blobs.findBy('repo_id', repo.id))
      if (!set.has(b.sha)) put('blob', b.sha, Buffer.from(b.content, b.encoding === 'base64' ? 'base64' : 'utf8'))
    for (const t of gh.trees.findBy('repo_id', repo.id))
      if (!set.has(t.sha)) {
        const key = (e) => Buffer.from(e.type === 'tree' ? e.path + '/' : e.path)
        put(
          'tree',
          t.sha,
          Buffer.concat(
            [...t.tree]
              .sort((a, b) => Buffer.compare(key(a), key(b)))
              .flatMap((e) => [Buffer.from(`${e.mode.replace(/^0+/, '')} ${e.path}\0`), Buffer.from(e.sha, 'hex')]),
          ),
        )
      }
    const id = (s) => {
      const z = s.match(/(Z|([+-])(\d{2}):?(\d{2}))$/i)
      return `${Math.floor(Date.parse(s) / 1000)} ${!z || z[1].toUpperCase() === 'Z' ? '+0000' : z[2] + z[3] + z[4]}`
    }
    for (const k of gh.commits.findBy('repo_id', repo.id))
      if (!set.has(k.sha))
        put(
          'commit',
          k.sha,
          Buffer.from(
            [
              `tree ${k.tree_sha}`,
              ...k.parent_shas.map((p) => `parent ${p}`),
              `author ${k.author_name} <${k.author_email}> ${id(k.author_date)}`,
              `committer ${k.committer_name} <${k.committer_email}> ${id(k.committer_date)}`,
            ].join('\n') +
              '\n\n' +
              (k.message.endsWith('\n') ? k.message : k.message + '\n'),
          ),
        )
    const lines = []
    const want = new Map(gh.refs.findBy('repo_id', repo.id).map((r) => [r.ref, r.sha]))
    for (const pr of gh.pullRequests.findBy('repo_id', repo.id)) want.set(`refs/pull/${pr.number}/head`, pr.head_sha)
    for (const l of gitS(repo, ['for-each-ref', '--format=%(refname) %(objectname)']).split('\n').filter(Boolean)) {
      const [r, s] = l.split(' ')
      if (r.endsWith('/merge')) continue
      if (!want.has(r)) lines.push(`delete ${r}`)
      else if (want.get(r) === s) want.delete(r)
    }
    for (const pr of gh.pullRequests.findBy('repo_id', repo.id))
      if (pr.head_repo_id !== repo.id) {
        const f = gh.repos.get(pr.head_repo_id)
        if (f) {
          ensureGit(f)
          try {
            git(repo, ['cat-file', '-e', pr.head_sha])
          } catch {
            gitS(repo, ['fetch', '-q', gitDir(f), pr.head_sha])
          }
        }
      }
    for (const [r, s] of want) lines.push(`update ${r} ${s}`)
    if (lines.length) git(repo, ['update-ref', '--stdin'], lines.join('\n') + '\n')
    return d
  }
  const importGit = (repo, sha) => {
    // new objects of a push -> emulate store
    const known = (t) => new Set(gh[t].findBy('repo_id', repo.id).map((x) => x.sha))
    const kb = known('blobs'),
      kt = known('trees'),
      kc = known('commits')
    for (const c of gitS(repo, ['rev-list', '--reverse', sha]).split('\n').filter(Boolean)) {
      if (kc.has(c)) continue
      const [tree, parents, an, ae, ad, cn, ce, cd] = gitS(repo, [
        'show',
        '-s',
        '--format=%T%n%P%n%an%n%ae%n%aI%n%cn%n%ce%n%cI',
        c,
      ]).split('\n')
      const raw = git(repo, ['cat-file', 'commit', c]).toString('utf8')
      const message = raw.slice(raw.indexOf('\n\n') + 2)
      const walk = (t) => {
        if (kt.has(t)) return
        const es = gitS(repo, ['ls-tree', '-l', '-z', t])
          .split('\0')
          .filter(Boolean)
          .map((l) => {
            const m = l.match(/^(\d+) (\w+) ([0-9a-f]+) +(\S+)\t(.*)$/s)
            return { path: m[5], mode: m[1], type: m[2], sha: m[3], ...(m[4] !== '-' ? { size: +m[4] } : {}) }
          })
        for (const e of es) {
          if (e.type === 'tree') walk(e.sha)
          else if (e.type === 'blob' && !kb.has(e.sha)) {
            const b = git(repo, ['cat-file', 'blob', e.sha])
            const text = b.toString('utf8')
            const ok = !text.includes('\0') && Buffer.from(text).equals(b)
            gh.blobs.insert({
              repo_id: repo.id,
              sha: e.sha,
              node_id: `B_${e.sha}`,
              content: ok ? text : b.toString('base64'),
              encoding: ok ? 'utf-8' : 'base64',
              size: b.length,
            })
            kb.add(e.sha)
          }
        }
        gh.trees.insert({ repo_id: repo.id, sha: t, node_id: `T_${t}`, tree: es, truncated: false })
        kt.add(t)
      }
      walk(tree)
      gh.commits.insert({
        repo_id: repo.id,
        sha: c,
        node_id: `C_${c}`,
        message,
        author_name: an,
        author_email: ae,
        author_date: ad,
        committer_name: cn,
        committer_email: ce,
        committer_date: cd,
        tree_sha: tree,
        parent_shas: parents ? parents.split(' ') : [],
        user_id: gh.users.all().find((u) => u.email === ae)?.id ?? null,
      })
      kc.add(c)
    }
  }
  const set = (pr, patch) => {
    const cur = gh.pullRequests.get(pr.id)
    if (Object.entries(patch).some(([k, v]) => cur[k] !== v)) gh.pullRequests.update(pr.id, patch)
  }
  const prStats = (pr) => {
    // real numbers from git; test merge commit like refs/pull/N/merge
    const repo = gh.repos.get(pr.base_repo_id)
    const headRepo = gh.repos.get(pr.head_repo_id)
    const base = gh.branches.findBy('repo_id', repo.id).find((b) => b.name === pr.base_ref)?.sha ?? pr.base_sha
    set(pr, { base_sha: base })
    ensureGit(repo)
    void headRepo
    let mb = base
    try {
      mb = gitS(repo, ['merge-base', base, pr.head_sha])
    } catch {}
    let add = 0,
      del = 0,
      n = 0
    for (const l of gitS(repo, ['diff', '--numstat', '-M', mb, pr.head_sha]).split('\n').filter(Boolean)) {
      const [a, d] = l.split('\t')
      n++
      add += +a || 0
      del += +d || 0
    }
    let mergeable = true,
      msha = null
    try {
      const tree = gitS(repo, ['merge-tree', '--write-tree', base, pr.head_sha]).split('\n')[0]
      msha = execFileSync(
        'git',
        [
          '--git-dir',
          gitDir(repo),
          'commit-tree',
          tree,
          '-p',
          base,
          '-p',
          pr.head_sha,
          '-m',
          `Merge ${pr.head_sha} into ${base}`,
        ],
        {
          env: {
            ...process.env,
            GIT_AUTHOR_NAME: 'GitHub',
            GIT_AUTHOR_EMAIL: 'noreply@github.com',
            GIT_COMMITTER_NAME: 'GitHub',
            GIT_COMMITTER_EMAIL: 'noreply@github.com',
            GIT_AUTHOR_DATE: pr.created_at,
            GIT_COMMITTER_DATE: pr.created_at,
          },
        },
      )
        .toString()
        .trim()
      gitS(repo, ['update-ref', `refs/pull/${pr.number}/merge`, msha])
      importGit(repo, msha)
    } catch (e) {
      if (process.env.GAPS_DEBUG) console.error(e)
      mergeable = false
    }
    if (!pr.merged)
      set(pr, {
        additions: add,
        deletions: del,
        changed_files: n,
        commits: +gitS(repo, ['rev-list', '--count', `${base}..${pr.head_sha}`]),
        mergeable,
        mergeable_state: mergeable ? 'clean' : 'dirty',
        merge_commit_sha: msha,
      })
    return mb
  }
  const prFiles = (pr) => {
    const repo = gh.repos.get(pr.base_repo_id)
    const mb = prStats(pr)
    const head = pr.head_sha
    const out = []
    const z = gitS(repo, ['diff', '--raw', '--no-abbrev', '-M', '-z', mb, head])
      .split('\0')
      .filter((s) => s !== '')
    for (let i = 0; i < z.length; ) {
      const m = z[i++].match(/^:(\d+) (\d+) (\w+) (\w+) (\w)/)
      const from = z[i++]
      const to = 'RC'.includes(m[5]) ? z[i++] : from
      const num = gitS(repo, ['diff', '--numstat', '-M', mb, head, '--', from, to]).split('\n')[0].split('\t')
      const bin = num[0] === '-'
      const patch = bin
        ? undefined
        : git(repo, ['diff', '-M', mb, head, '--', from, to])
            .toString('utf8')
            .replace(/\n$/, '')
            .split('\n')
            .reduce((a, l) => (a.on || l.startsWith('@@') ? ((a.on = true), a.l.push(l)) : 0, a), { on: false, l: [] })
            .l.join('\n')
      const e = to.split('/').map(encodeURIComponent).join('/')
      const a = +num[0] || 0,
        d = +num[1] || 0
      out.push({
        sha: m[5] === 'D' ? m[3] : m[4],
        filename: to,
        status: { A: 'added', D: 'removed', M: 'modified', R: 'renamed', C: 'copied', T: 'changed' }[m[5]],
        additions: a,
        deletions: d,
        changes: a + d,
        blob_url: `${baseUrl}/${repo.full_name}/blob/${head}/${e}`,
        raw_url: `${baseUrl}/${repo.full_name}/raw/${head}/${e}`,
        contents_url: `${baseUrl}/repos/${repo.full_name}/contents/${e}?ref=${head}`,
        ...(patch ? { patch } : {}),
        ...(m[5] === 'R' ? { previous_filename: from } : {}),
      })
    }
    return out
  }
  const prGet = async (c, o, r, n) => (await self(c, `/repos/${o}/${r}/pulls/${n}`)).json()
  const findPR = (c) => {
    const repo = repoOf(c.req.param('owner'), c.req.param('repo'))
    const pr = repo && gh.pullRequests.findBy('repo_id', repo.id).find((p) => p.number === +c.req.param('n'))
    return [repo, pr]
  }
  const page = (c, list) => {
    const u = new URL(c.req.url)
    const per = Math.min(100, +(u.searchParams.get('per_page') ?? 30)),
      p = +(u.searchParams.get('page') ?? 1),
      last = Math.max(1, Math.ceil(list.length / per))
    const l = (n, rel) => {
      u.searchParams.set('page', n)
      return `<${baseUrl}${u.pathname}${u.search}>; rel="${rel}"`
    }
    const links = []
    if (p < last) links.push(l(p + 1, 'next'), l(last, 'last'))
    if (p > 1) links.push(l(1, 'first'), l(p - 1, 'prev'))
    if (links.length) c.header('Link', links.join(', '))
    return list.slice((p - 1) * per, p * per)
  }

  // ---------- middleware: 401 for unknown tokens, no user token may write checks, ETag / 304
  app.use('*', async (c, next) => {
    const path = new URL(c.req.url).pathname,
      a = c.req.header('Authorization')
    const tok = a?.replace(/^(Bearer|token)\s+/i, '').trim()
    if (!isGit(path)) {
      if (tok && !tok.startsWith('eyJ') && !path.startsWith('/applications/') && !tokenMap.has(tok)) return err(c, 401, 'Bad credentials')
      const inst = c.get('authUser')?.installation
      if (inst && c.req.method === 'DELETE' && path === '/installation/token') {
        tokenMap.delete(tok) // given back
        return c.body(null, 204)
      }
      if (path === '/app/hook/deliveries') return c.json([]) // none failed
      if (inst && path === '/user') return err(c, 403, 'Resource not accessible by integration')
      // A person asks for a check run again on its page, which does what this does.
      if (!inst && /\/check-(runs|suites)/.test(path) && !/\/rerequest$/.test(path) && c.req.method !== 'GET')
        return err(c, 403, 'You must authenticate via a GitHub App.')
      {
        const m = path.match(
            /^\/repos\/([^/]+)\/([^/]+)\/(issues|pulls|labels|milestones|statuses)(?:\/(comments\/)?(\d+))?(\/.*)?$/,
          ),
          who = c.get('authUser') // emulate lets every signed-in user write here on public repositories
        if (
          m &&
          who &&
          !inst &&
          c.req.method !== 'GET' &&
          !(c.req.method === 'POST' && /^\/(comments|reviews|reactions)$/.test(m[6] ?? '')) &&
          !(c.req.method === 'POST' && !m[5] && /issues|pulls/.test(m[3])) &&
          !/reactions/.test(path)
        ) {
          const repo = repoOf(m[1], m[2]),
            u = gh.users.findOneBy('login', who.login)
          const author =
            repo &&
            (m[4]
              ? gh.comments.get(+m[5])?.user_id
              : m[5] && gh.issues.findBy('repo_id', repo.id).find((i) => i.number === +m[5])?.user_id)
          const own = author === u?.id && !/labels|assignees|lock|requested_reviewers|merge/.test(m[6] ?? '')
          if (repo && u && !own && !/admin|maintain|write|triage/.test(roleOf(repo, u)))
            return err(c, 403, 'Must have triage or write access to the repository.')
        }
      }
      if (c.req.method === 'GET' && /^\/repos\/[^/]+\/[^/]+\/pulls\/\d+$/.test(path)) {
        const [, , o, r, , n] = path.split('/')
        const repo = repoOf(o, r)
        const pr = repo && gh.pullRequests.findBy('repo_id', repo.id).find((p) => p.number === +n)
        if (pr) {
          const mb = prStats(pr)
          if (/diff|patch/.test(c.req.header('Accept') ?? ''))
            return c.body(
              git(
                repo,
                /patch/.test(c.req.header('Accept'))
                  ? ['format-patch', '--stdout', `${mb}..${pr.head_sha}`]
                  : ['diff', '-M', mb, pr.head_sha],
              ).toString('utf8'),
              200,
              { 'Content-Type': 'application/vnd.github.diff; charset=utf-8' },
            )
        }
      }
    }
    const res = (await next()) ?? undefined
    return res
  })
  const route = (m, p, h) => app.on(m, p, h)
  const R = '/repos/:owner/:repo'
  route('GET', `${R}/pulls/:n/files`, (c) => {
    const [repo, pr] = findPR(c)
    if (!pr) return err(c, 404, 'Not Found')
    const f = prFiles(pr)
    return c.json(page(c, f))
  })
  // ---------- reactions
  const reactions = []
  const mk = (kind, id) => async (c) => {
    const u = actorOf(c)
    if (!u) return err(c, 401, 'Requires authentication')
    const { content } = JSON.parse(await c.req.text())
    if (!['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'rocket', 'eyes'].includes(content))
      return err(c, 422, 'Validation Failed')
    const key = `${kind}:${c.req.param('repo')}:${c.req.param(id)}`
    const old = reactions.find((x) => x.key === key && x.uid === u.id && x.content === content)
    if (old) return c.json(fmtR(old), 200)
    const x = { key, uid: u.id, id: reactions.length + 1, content, created_at: now() }
    reactions.push(x)
    return c.json(fmtR(x), 201)
  }
  const fmtR = (x) => ({
    id: x.id,
    node_id: `REA_${x.id}`,
    user: user(gh.users.get(x.uid)),
    content: x.content,
    created_at: x.created_at,
  })
  const ls = (kind, id) => (c) =>
    c.json(page(c, reactions.filter((x) => x.key === `${kind}:${c.req.param('repo')}:${c.req.param(id)}`).map(fmtR)))
  const rm = (kind, id) => (c) => {
    const i = reactions.findIndex(
      (x) => x.key === `${kind}:${c.req.param('repo')}:${c.req.param(id)}` && x.id === +c.req.param('rid'),
    )
    if (i < 0) return err(c, 404, 'Not Found')
    reactions.splice(i, 1)
    return c.body(null, 204)
  }
  for (const [p, kind] of [
    [`${R}/issues/comments/:cid/reactions`, 'ic'],
    [`${R}/pulls/comments/:cid/reactions`, 'pc'],
    [`${R}/issues/:cid/reactions`, 'is'],
  ]) {
    route('POST', p, mk(kind, 'cid'))
    route('GET', p, ls(kind, 'cid'))
    route('DELETE', `${p}/:rid`, rm(kind, 'cid'))
  }
  // ---------- commit statuses
  const statuses = []
  route('POST', `${R}/statuses/:sha`, async (c) => {
    const repo = repoOf(c.req.param('owner'), c.req.param('repo'))
    const a = c.get('authUser')
    if (!repo) return err(c, 404, 'Not Found')
    if (!a) return err(c, 401, 'Requires authentication')
    if (a.installation && a.installation.permissions.statuses !== 'write')
      return err(c, 403, 'Resource not accessible by integration')
    const b = JSON.parse(await c.req.text())
    if (!['error', 'failure', 'pending', 'success'].includes(b.state)) return err(c, 422, 'Validation Failed')
    if ((b.description ?? '').length > 140)
      return err(c, 422, 'Validation Failed: description is too long (maximum is 140 characters)')
    if (!gh.commits.findBy('repo_id', repo.id).some((k) => k.sha === c.req.param('sha')))
      return err(c, 422, `No commit found for SHA: ${c.req.param('sha')}`)
    const s = {
      url: `${baseUrl}/repos/${repo.full_name}/statuses/${c.req.param('sha')}`,
      avatar_url: '',
      id: statuses.length + 1,
      node_id: `SC_${statuses.length + 1}`,
      state: b.state,
      description: b.description ?? null,
      target_url: b.target_url ?? null,
      context: b.context ?? 'default',
      created_at: now(),
      updated_at: now(),
      creator: user(actorOf(c)),
    }
    statuses.push({ repo: repo.id, sha: c.req.param('sha'), s })
    return c.json(s, 201)
  })
  const stOf = (repo, sha) =>
    statuses
      .filter((x) => x.repo === repo.id && x.sha === sha)
      .map((x) => x.s)
      .reverse()
  const shaOf = (repo, ref) => gh.branches.findBy('repo_id', repo.id).find((b) => b.name === ref)?.sha ?? ref
  route('GET', `${R}/commits/:ref/status`, (c) => {
    const repo = repoOf(c.req.param('owner'), c.req.param('repo'))
    const sha = shaOf(repo, c.req.param('ref'))
    const latest = [
      ...new Map(
        stOf(repo, sha)
          .reverse()
          .map((s) => [s.context, s]),
      ).values(),
    ]
    const st = latest.map((s) => s.state)
    return c.json({
      state: st.some((s) => s === 'failure' || s === 'error')
        ? 'failure'
        : st.length && st.every((s) => s === 'success')
          ? 'success'
          : 'pending',
      statuses: latest,
      sha,
      total_count: latest.length,
      repository: {
        id: repo.id,
        node_id: repo.node_id,
        name: repo.name,
        full_name: repo.full_name,
        private: repo.private,
      },
      commit_url: `${baseUrl}/repos/${repo.full_name}/commits/${sha}`,
      url: `${baseUrl}/repos/${repo.full_name}/commits/${sha}/status`,
    })
  })
  route('GET', `${R}/commits/:ref/statuses`, (c) => {
    const repo = repoOf(c.req.param('owner'), c.req.param('repo'))
    return c.json(page(c, stOf(repo, shaOf(repo, c.req.param('ref')))))
  })
  route('GET', `${R}/commits/:sha/pulls`, async (c) => {
    const repo = repoOf(c.req.param('owner'), c.req.param('repo'))
    const out = []
    for (const pr of gh.pullRequests.findBy('repo_id', repo.id))
      if (pr.head_sha === c.req.param('sha'))
        out.push(await prGet(c, c.req.param('owner'), c.req.param('repo'), pr.number))
    return c.json(out)
  })
  // ---------- app bits
  route('GET', '/installation/repositories', async (c) => {
    const a = c.get('authUser')
    if (!a?.installation) return err(c, 403, 'Resource not accessible')
    const i = a.installation
    const rs = gh.repos
      .all()
      .filter(
        (r) =>
          r.owner_id === i.accountId &&
          r.owner_type === i.accountType &&
          (i.repositorySelection !== 'selected' || i.repositoryIds.includes(r.id)),
      )
    const list = []
    for (const r of rs) list.push(await (await self(c, `/repos/${r.full_name}`)).json())
    return c.json({
      total_count: list.length,
      repository_selection: i.repositorySelection,
      repositories: page(c, list),
    })
  })
  route('GET', '/users/:login', (c) => {
    const u =
      gh.users.findOneBy('login', c.req.param('login')) ??
      (() => {
        const m = c.req.param('login').match(/^(.*)\[bot\]$/)
        const ap = m && gh.apps.all().find((x) => x.slug === m[1])
        return ap && botUser(ap)
      })()
    return u
      ? c.json({
          ...user(u),
          name: u.name,
          company: null,
          blog: '',
          location: null,
          email: u.email,
          hireable: null,
          bio: null,
          public_repos: 0,
          public_gists: 0,
          followers: 0,
          following: 0,
          created_at: u.created_at,
          updated_at: u.updated_at,
        })
      : err(c, 404, 'Not Found')
  })
  route('GET', `${R}/collaborators/:username/permission`, (c) => {
    const repo = repoOf(c.req.param('owner'), c.req.param('repo'))
    const u = gh.users.findOneBy('login', c.req.param('username'))
    if (!repo || !u) return err(c, 404, 'Not Found')
    const role = roleOf(repo, u)
    return c.json({
      permission: { maintain: 'write', triage: 'read' }[role] ?? role,
      role_name: role,
      user: { ...user(u), role_name: role },
    })
  })
  // ---------- checks: app object, 50 annotations a call, 65535, append, array on list
  const anns = new Map()
  const fixRun = (r, appId) => ({ ...r, app: appInfo(appId ?? gh.checkRuns.get(r.id)?.app_id) ?? null })
  const checkWrite = (method) => async (c) => {
    const b = JSON.parse(await c.req.text())
    const inst = c.get('authUser').installation
    const o = b.output
    if (o) {
      if ((o.annotations?.length ?? 0) > 50)
        return err(
          c,
          422,
          'Invalid request.\n\nNo more than 50 items are allowed; ' + o.annotations.length + ' were supplied.',
        )
      if ((o.summary?.length ?? 0) > 65535 || (o.text?.length ?? 0) > 65535)
        return err(c, 422, 'Invalid request.\n\nOnly 65535 characters are allowed')
      if ((!o.title && method === 'POST') || !o.summary)
        return err(c, 422, 'Invalid request.\n\n"title"/"summary" wasn\'t supplied.')
    }
    const repo = repoOf(c.req.param('owner'), c.req.param('repo'))
    if (repo && method === 'POST' && !gh.commits.findBy('repo_id', repo.id).some((k) => k.sha === b.head_sha))
      return err(c, 422, `No commit found for SHA: ${b.head_sha}`)
    if (repo && method === 'PATCH' && gh.checkRuns.get(+c.req.param('id'))?.app_id !== inst.appId)
      return err(
        c,
        403,
        'Invalid app_id `' + inst.appId + '` - check run can only be modified by the GitHub App that created it.',
      )
    const prev = method === 'PATCH' ? (anns.get(+c.req.param('id')) ?? []) : []
    const all = [...prev, ...(o?.annotations ?? [])]
    const body = { ...b, app_id: inst.appId, ...(o ? { output: { ...o, annotations: all } } : {}) }
    pass = true
    let r
    try {
      r = await self(c, new URL(c.req.url).pathname, { method, body: JSON.stringify(body), headers: { 'X-Gaps': '1' } })
    } finally {
      pass = false
    }
    if (!r.ok) return r
    const j = await r.json()
    anns.set(j.id, all)
    return c.json(fixRun(j), r.status)
  }
  let pass = false
  const inner = app.match.bind(app)
  const skip = new Set()
  app.match = (m, p) => {
    if (!pass) return inner(m, p)
    const keep = app.routes
    app.routes = keep.filter((x) => !skip.has(x))
    try {
      return inner(m, p)
    } finally {
      app.routes = keep
    }
  }
  const over = (m, p, h) => {
    route(m, p, h)
    skip.add(app.routes.at(-1))
  }
  over('POST', `${R}/check-runs`, checkWrite('POST'))
  over('PATCH', `${R}/check-runs/:id`, checkWrite('PATCH'))
  const through = (f) => async (c) => {
    pass = true
    let r
    try {
      const u = new URL(c.req.url)
      r = await self(c, u.pathname + u.search)
    } finally {
      pass = false
    }
    if (!r.ok) return r
    return c.json(f(await r.json(), c))
  }
  over(
    'GET',
    `${R}/check-runs/:id`,
    through((j) => fixRun(j)),
  )
  over(
    'GET',
    `${R}/commits/:ref/check-runs`,
    through((j, c) => {
      const q = new URL(c.req.url).searchParams.get('app_id')
      const l = j.check_runs.map((r) => fixRun(r)).filter((r) => !q || r.app?.id === +q)
      return { total_count: l.length, check_runs: l }
    }),
  )
  over('GET', `${R}/check-runs/:id/annotations`, (c) =>
    c.json(
      page(
        c,
        (anns.get(+c.req.param('id')) ?? []).map((a) => ({
          blob_href: '',
          start_column: null,
          end_column: null,
          title: null,
          raw_details: null,
          ...a,
        })),
      ),
    ),
  )
  // ---------- reviews with line/side (emulate knows only position)
  const inDiff = (patch, line, side) => {
    let l = 0,
      r = 0
    for (const s of (patch ?? '').split('\n')) {
      const m = s.match(/^@@ -(\d+)(?:,\d+)? \+(\d+)/)
      if (m) {
        l = +m[1]
        r = +m[2]
        continue
      }
      if (s[0] === '-') {
        if (side === 'LEFT' && l === line) return true
        l++
      } else if (s[0] === '+') {
        if (side === 'RIGHT' && r === line) return true
        r++
      } else if (s[0] === ' ') {
        if ((side === 'RIGHT' ? r : l) === line) return true
        l++
        r++
      }
    }
    return false
  }
  const posOf = (patch, line, side) => {
    let l = 0,
      r = 0,
      p = -1
    for (const s of (patch ?? '').split('\n')) {
      p++
      const m = s.match(/^@@ -(\d+)(?:,\d+)? \+(\d+)/)
      if (m) {
        l = +m[1]
        r = +m[2]
        continue
      }
      if (s[0] === '-') {
        if (side === 'LEFT' && l === line) return p
        l++
      } else if (s[0] === '+') {
        if (side === 'RIGHT' && r === line) return p
        r++
      } else {
        if ((side === 'RIGHT' ? r : l) === line) return p
        l++
        r++
      }
    }
    return null
  }
  over('POST', `${R}/pulls/:n/reviews`, async (c) => {
    const [repo, pr] = findPR(c)
    if (!pr) return err(c, 404, 'Not Found')
    const b = JSON.parse(await c.req.text())
    const files = prFiles(pr)
    for (const k of b.comments ?? [])
      if (k.line !== undefined) {
        const f = files.find((x) => x.filename === k.path)
        if (!f) return err(c, 422, 'Unprocessable Entity', ['Path could not be resolved'])
        if (!inDiff(f.patch, k.line, k.side ?? 'RIGHT'))
          return err(c, 422, 'Unprocessable Entity', ['Line could not be resolved'])
        k.position = posOf(f.patch, k.line, k.side ?? 'RIGHT')
      }
    pass = true
    let r
    try {
      r = await self(c, new URL(c.req.url).pathname, { method: 'POST', body: JSON.stringify(b) })
    } finally {
      pass = false
    }
    if (!r.ok) return r
    const j = await r.json()
    gh.comments
      .findBy('repo_id', repo.id)
      .filter((x) => x.review_id === j.id)
      .forEach((x, i) => {
        const k = b.comments[i]
        if (k?.line) gh.comments.update(x.id, { line: k.line, side: k.side ?? 'RIGHT' })
      })
    return c.json(j, 200)
  })
  over('POST', `${R}/pulls/:n/comments`, async (c) => {
    const [repo, pr] = findPR(c)
    if (!pr) return err(c, 404, 'Not Found')
    const b = JSON.parse(await c.req.text())
    const f = prFiles(pr).find((x) => x.filename === b.path)
    if (b.line && !(f && inDiff(f.patch, b.line, b.side ?? 'RIGHT')))
      return err(c, 422, 'Validation Failed', [
        {
          resource: 'PullRequestReviewComment',
          code: 'custom',
          field: 'pull_request_review_thread.line',
          message: 'pull_request_review_thread.line must be part of the diff',
        },
      ])
    pass = true
    try {
      return await self(c, new URL(c.req.url).pathname, { method: 'POST', body: JSON.stringify(b) })
    } finally {
      pass = false
    }
  })
  over('POST', `${R}/pulls`, async (c) => {
    const repo = repoOf(c.req.param('owner'), c.req.param('repo'))
    const t = await c.req.text()
    const b = JSON.parse(t)
    if (repo) {
      const [o, ref] = b.head.includes(':') ? b.head.split(':') : [login(repo), b.head]
      if (
        gh.pullRequests
          .findBy('repo_id', repo.id)
          .some(
            (p) =>
              p.state === 'open' &&
              p.head_ref === ref &&
              p.base_ref === b.base &&
              login(gh.repos.get(p.head_repo_id)) === o,
          )
      )
        return err(c, 422, 'Validation Failed', [
          { resource: 'PullRequest', code: 'custom', message: `A pull request already exists for ${o}:${ref}.` },
        ])
    }
    pass = true
    try {
      return await self(c, new URL(c.req.url).pathname, { method: 'POST', body: t })
    } finally {
      pass = false
    }
  })
  // ---------- git smart http (git http-backend over the bare repository)
  const smart = async (c) => {
    const u = new URL(c.req.url)
    const [, o, rg, ...rest] = u.pathname.split('/')
    const repo = repoOf(o, rg.replace(/\.git$/, ''))
    if (!repo) return err(c, 404, 'Not Found')
    const m = (c.req.header('Authorization') ?? '').match(/^Basic (.*)$/i)
    const tok = m
      ? Buffer.from(m[1], 'base64').toString().split(':').slice(1).join(':')
      : (c.req.header('Authorization') ?? '').replace(/^(Bearer|token)\s+/i, '')
    const who = tokenMap.get(tok)
    const write = u.search.includes('receive-pack') || rest.join('/').includes('receive-pack')
    const may = write
      ? who &&
        (who.installation
          ? who.installation.permissions.contents === 'write' && who.installation.accountId === repo.owner_id
          : (
              await (
                await self(c, `/repos/${repo.full_name}/collaborators/${who.login}/permission`, {
                  headers: { Authorization: `Bearer ${tok}` },
                })
              ).json()
            ).permission.match(/admin|write/))
      : !repo.private || (who && (who.installation ? who.installation.accountId === repo.owner_id : true))
    if (!may)
      return who
        ? err(c, 403, 'Permission denied')
        : new Response('auth', { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="GitHub"' } })
    ensureGit(repo)
    const before = new Map(
      gitS(repo, ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags'])
        .split('\n')
        .filter(Boolean)
        .map((l) => l.split(' ')),
    )
    const body = Buffer.from(await c.req.raw.arrayBuffer())
    const p = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: ROOT,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: `/${repo.id}.git/${rest.join('/')}`,
        QUERY_STRING: u.search.slice(1),
        REQUEST_METHOD: c.req.method,
        CONTENT_TYPE: c.req.header('Content-Type') ?? '',
        CONTENT_LENGTH: String(body.length),
        HTTP_CONTENT_ENCODING: c.req.header('Content-Encoding') ?? '',
        GIT_PROTOCOL: c.req.header('Git-Protocol') ?? '',
        REMOTE_USER: who?.login ?? '',
        REMOTE_ADDR: '127.0.0.1',
      },
    })
    p.stdin.on('error', () => {})
    p.stdin.end(body)
    const chunks = []
    for await (const k of p.stdout) chunks.push(k)
    const out = Buffer.concat(chunks)
    const cut = out.indexOf('\r\n\r\n')
    const headers = new Headers()
    let status = 200
    for (const l of out.subarray(0, cut).toString().split('\r\n')) {
      const i = l.indexOf(':')
      const k = l.slice(0, i),
        v = l.slice(i + 1).trim()
      if (k.toLowerCase() === 'status') status = +v.split(' ')[0]
      else headers.set(k, v)
    }
    if (c.req.method === 'POST' && rest[0] === 'git-receive-pack') {
      const after = new Map(
        gitS(repo, ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags'])
          .split('\n')
          .filter(Boolean)
          .map((l) => l.split(' ')),
      )
      for (const [ref, sha] of after)
        if (before.get(ref) !== sha) {
          importGit(repo, sha)
          const row = gh.refs.findBy('repo_id', repo.id).find((r) => r.ref === ref)
          if (row) gh.refs.update(row.id, { sha })
          else gh.refs.insert({ repo_id: repo.id, ref, sha, node_id: `REF_${ref}` })
          if (ref.startsWith('refs/heads/')) {
            const n = ref.slice(11)
            const b = gh.branches.findBy('repo_id', repo.id).find((x) => x.name === n)
            if (b) gh.branches.update(b.id, { sha })
            else gh.branches.insert({ repo_id: repo.id, name: n, sha, protected: false })
          }
          const rj = await (
            await self(c, `/repos/${repo.full_name}`, { headers: { Authorization: `Bearer ${tok}` } })
          ).json()
          const sender = who.installation
            ? botUser(gh.apps.all().find((x) => x.app_id === who.installation.appId))
            : gh.users.findOneBy('login', who.login)
          void webhooks.dispatch(
            'push',
            undefined,
            {
              ref,
              before: before.get(ref) ?? Z,
              after: sha,
              created: !before.has(ref),
              deleted: false,
              forced: false,
              compare: '',
              commits: [],
              head_commit: null,
              repository: rj,
              pusher: { name: who.login, email: '' },
              sender: user(sender),
            },
            login(repo),
            repo.name,
          )
        }
      for (const ref of before.keys())
        if (!after.has(ref)) {
          const row = gh.refs.findBy('repo_id', repo.id).find((r) => r.ref === ref)
          if (row) gh.refs.delete(row.id)
          const b = gh.branches.findBy('repo_id', repo.id).find((x) => `refs/heads/${x.name}` === ref)
          if (b) gh.branches.delete(b.id)
        }
    }
    return new Response(out.subarray(cut + 4), { status, headers })
  }
  for (const m of ['GET', 'POST']) route(m, '/:owner/:repo/:rest{info/refs|git-upload-pack|git-receive-pack}', smart)

  const installation = addApps({ route, gh, store, tokenMap, baseUrl, user, roleOf, self, page, err })

  // ---------- outer fetch: /api/v3 prefix, ETag/304, request id, fault injection, request log
  const faults = [],
    log = []
  const f0 = app.fetch
  app.fetch = async (req) => {
    const u = new URL(req.url)
    if (u.hostname === 'internal') return f0(req)
    if (u.pathname === '/_gaps/faults' && req.method === 'POST') {
      faults.push({ times: 1, ...(await req.json()) })
      return Response.json({ ok: true })
    }
    if (u.pathname === '/_gaps/hosts' && req.method === 'POST') {
      for (const [origin, to] of Object.entries(await req.json())) hosts.set(origin, to)
      return Response.json({ ok: true })
    }
    if (u.pathname === '/_gaps/log') return Response.json(log)
    if (u.pathname === '/_gaps/installation' && req.method === 'POST') return installation(await req.json())
    if (u.pathname.startsWith('/api/v3/')) {
      const v = new URL(u)
      v.pathname = u.pathname.slice(7)
      req = new Request(
        v,
        req.method === 'GET' || req.method === 'HEAD'
          ? { method: req.method, headers: req.headers }
          : { method: req.method, headers: req.headers, body: await req.arrayBuffer() },
      )
    }
    const path = new URL(req.url).pathname
    const t = faults.find((x) => x.times > 0 && (!x.method || x.method === req.method) && new RegExp(x.path).test(path))
    const e = { t: Date.now(), method: req.method, path: path + u.search }
    log.push(e)
    if (t) {
      t.times--
      e.status = t.status
      return new Response(t.body ?? JSON.stringify({ message: 'injected' }), {
        status: t.status,
        headers: { 'Content-Type': 'application/json', ...(t.headers ?? {}) },
      })
    }
    const r = await f0(req)
    e.status = r.status
    if (isGit(path)) return r
    const h = new Headers(r.headers)
    h.set('X-GitHub-Request-Id', randomUUID().toUpperCase())
    h.set('X-GitHub-Media-Type', 'github.v3; format=json')
    if (req.method !== 'GET' || r.status !== 200) return new Response(r.body, { status: r.status, headers: h })
    const b = Buffer.from(await r.arrayBuffer())
    const tag = `W/"${createHash('sha256').update(b).digest('hex')}"`
    h.set('ETag', tag)
    if (req.headers.get('if-none-match') === tag) {
      e.status = 304
      return new Response(null, { status: 304, headers: h })
    }
    return new Response(b, { status: 200, headers: h })
  }

  orig.call(this, app, store, webhooks, baseUrl, tokenMap)

  // ---------- webhooks: number, organization, labels on PRs, synchronize, forks
  const next = webhooks.dispatch.bind(webhooks)
  const org = (o) => {
    const x = gh.orgs.findOneBy('login', o)
    return x
      ? {
          organization: {
            login: x.login,
            id: x.id,
            node_id: x.node_id,
            url: `${baseUrl}/orgs/${x.login}`,
            avatar_url: '',
            description: '',
          },
        }
      : {}
  }
  const pr2 = async (n) => {
    pass = false
    const r = await app.fetch(
      new Request(`http://internal/repos/${n[0]}/${n[1]}/pulls/${n[2]}`, {
        headers: { Authorization: `Bearer ${[...tokenMap.keys()][0]}` },
      }),
    )
    return r.json()
  }
  webhooks.dispatch = async (event, action, payload, owner, repo) => {
    payload = { ...payload, ...org(owner) }
    const moved = []
    if (event === 'push') {
      const r0 = repoOf(owner, repo)
      for (const pr of gh.pullRequests.all())
        if (
          pr.state === 'open' &&
          pr.head_repo_id === r0.id &&
          `refs/heads/${pr.head_ref}` === payload.ref &&
          pr.head_sha !== payload.after
        ) {
          moved.push([pr.id, pr.head_sha])
          gh.pullRequests.update(pr.id, { head_sha: payload.after })
          prStats(gh.pullRequests.get(pr.id))
        }
    }
    if (
      payload.issue &&
      gh.issues.findBy('repo_id', repoOf(owner, repo).id).find((i) => i.number === payload.issue.number)
        ?.is_pull_request
    ) {
      const u = `${baseUrl}/repos/${owner}/${repo}/pulls/${payload.issue.number}`,
        h = `${baseUrl}/${owner}/${repo}/pull/${payload.issue.number}`
      payload.issue = {
        ...payload.issue,
        html_url: h,
        draft: false,
        pull_request: { url: u, html_url: h, diff_url: `${h}.diff`, patch_url: `${h}.patch`, merged_at: null },
      }
    }
    if (event === 'check_run' && payload.check_run) payload.check_run = fixRun(payload.check_run)
    if (event === 'check_suite' && payload.check_suite)
      payload.check_suite = { ...payload.check_suite, app: appInfo(gh.apps.all()[0]?.app_id) ?? null }
    if (event === 'pull_request')
      payload = {
        ...payload,
        number: payload.pull_request.number,
        pull_request: {
          ...(await pr2([owner, repo, payload.pull_request.number])),
          ...(payload.pull_request.merged ? { merged: true } : {}),
        },
      }
    if (
      event === 'issues' &&
      /label/.test(action) &&
      gh.issues.findBy('repo_id', repoOf(owner, repo).id).find((i) => i.number === payload.issue.number)
        ?.is_pull_request
    ) {
      await next(
        'pull_request',
        action,
        {
          ...payload,
          issue: undefined,
          action,
          number: payload.issue.number,
          pull_request: await pr2([owner, repo, payload.issue.number]),
        },
        owner,
        repo,
      )
      return
    }
    await next(event, action, payload, owner, repo)
    if (event === 'fork') {
      const f = repoOf(owner, repo)
      const p = gh.repos.get(f.forked_from_id)
      for (const t of ['refs', 'branches', 'commits', 'trees', 'blobs']) {
        for (const x of gh[t].findBy('repo_id', f.id)) gh[t].delete(x.id)
        for (const { id, created_at, updated_at, ...x } of gh[t].findBy('repo_id', p.id))
          gh[t].insert({ ...x, repo_id: f.id })
      }
    }
    for (const [id, before] of moved) {
      const pr = gh.pullRequests.get(id),
        b = gh.repos.get(pr.base_repo_id)
      await webhooks.dispatch(
        'pull_request',
        'synchronize',
        {
          action: 'synchronize',
          before,
          after: payload.after,
          pull_request: { number: pr.number },
          repository: (await pr2([login(b), b.name, pr.number])).base.repo,
          sender: payload.sender,
        },
        login(b),
        b.name,
      )
    }
  }
}
console.error('[gaps] overlay on', file)
