// Functions of real Supabase projects, their folders as they are. Set TERRANE_EXAMPLES to a folder with a git directory
// `{owner}+{name}` of each repository of PROJECTS and of what the mirror serves; absent ones are left out.
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SERVICE_KEY, startApp, type TestApp } from '../support/app.ts'
import { openMirror } from '../support/examples/mirror.ts'
import { projectsOf, rulesOf, workersOf, writeSecrets, type SupabaseProject } from '../support/examples/projects.ts'
import { Repositories } from '../support/examples/repositories.ts'

const PROJECTS = [
  '1-to-100/baseplate-v3',
  'marmelab/atomic-crm',
  'linancn/tiangong-ai-edge-function',
  'pariksheet/plannen',
  'Cap-go/capgo',
  '13aherbert/ai-proposal-genius',
  '1wunderkind/loopgpt-backend',
  '3menions-ctrl/genesis-director',
  '3rdeyeadvisors/3rdeyeadvisors',
  '415geek/contractor-go-v2',
  '4Sighteducation/FLASH',
  '704Collective/704CollectiveOfficial',
  '0xShin0221/Osiri',
  'ActivityWatch/aw-supabase',
  'AlexBuildsLTS/TranscriberPro',
  'Arrow-air/project-flight-tracking',
  'DotMatrixLabs/dot-x-plugins',
  'EagleScoutDev/EagleScout',
  'domhhv/habitrack',
  'gHashTag/999-supabase-functions',
  'kebao001/artbattle',
  '1mansurr/elaro.app',
  '3bi-io/nexus-evolve-core',
  '3bi-io/map-pal-maker',
  '3sc0rp/blunari-saas-monorepo',
  '16madina/zembo',
  '2Sbay-Team/regcopilot-ai',
  '4danny03/debre-bisrat-web-portal',
  'AlazabDev/UberFix.shop',
  'AlfiAI/earth-kulture-ai',
  'AndyEganCo/VersionVault',
  'Arisofia/Nuvanx-System',
  'BarberzApp/barberApp',
  'BlockSavvy/jetstream',
  'Boxerbuzz/relett-web',
  'ASamper97/osalnes',
  'AccountancyOS/accountancyos',
  'Altitutor/altitutor-monorepo',
  'AmirmLotfy/shyftcut',
  'Saturday-Vinyl/saturday-vinyl-supabase',
  'phenrikyg-collab/supabase-sync-charm',
  'webunclogmecom/supabase',
  'Rocket-CRM/supabase-crm',
  '0thman/digityx-crm-api',
  '1busyguy/imgMotionReborn',
  '3BaDi012/thumair',
  '43jjoam/tiktokchinese',
  '4p-capital/eon-estoque',
  'gedesurya125/SUPABASE-EDGE-FUNCTIONS',
  'marlondridley/novatutor',
]

/** Repositories with Workers. */
const WORKERS = [
  'cloudflare/templates',
  'cloudflare/workers-sdk',
  'honojs/examples',
  'cloudflare/capnweb',
  'cloudflare/chanfana',
  'cloudflare/workers-oauth-provider',
  'cloudflare/workers-web-experiments',
  'jwyGithub/cloudflare-workers',
  'luxass/cloudflare-workers',
  'omrilotan/cloudflare-workers',
  'ironspecs/cloudflare-workers',
  'nodejs/release-cloudflare-worker',
  'fingerprintjs/fingerprintjs-pro-cloudflare-worker',
  'resend/resend-cloudflare-workers-example',
  'PBK-B/cloudflare-worker-json-base',
  'coji/clerk-multitenant-cf-workers-example',
  'talkstream/telegram-bot-on-cloudflare-workers',
  'blue-pen5805/llm-proxy-on-cloudflare-workers',
  'powerfulyang/cloudflare-worker',
  'seratch/slack-cloudflare-workers',
  'estuary/flow-cf-workers-example',
  '001ProMax/TestFlight-Monitor',
  '0xnekoya/hono-sqlite-wasm',
  '1999AZZAR/wikipedia-mcp-server',
  '1alexandrer/moodle-mcp',
  '1uc1d23/stream-fetcher',
  'JamesLMilner/cf-worker-pixelmatch',
  'JamieCurnow/ts-cloudflare-worker',
  'JaniAnttonen/notion-to-md-worker',
  'Jaquatech/ai-session-proxy',
  'MMD-Prive/mmd-workers',
  'QNFO/qnfo-workers',
  'annjose/hello-cloudflare-workers',
  'kewbish/cobweb',
]

// oxlint-disable-next-line node/no-process-env -- Where the fetched repositories are, and how Deno is led to the mirror.
const { env } = process
const folder = env['TERRANE_EXAMPLES'] ?? ''
const ONLY = new RegExp(env['TERRANE_EXAMPLES_ONLY'] ?? '')
const RESULTS = env['TERRANE_EXAMPLES_RESULTS'] ?? join(tmpdir(), 'terrane-projects.jsonl')
const repositories = new Repositories(folder)
const present = PROJECTS.filter((name) => folder !== '' && ONLY.test(name) && repositories.has(name))
/** Errors of functions whose database or outside host is missing. */
const OUTSIDE = /Connection terminated|ECONNREFUSED|ENOTFOUND|cannot be reached|could not be resolved|no address/
const PARALLEL = 3
const ANSWER_MS = 20_000
const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

/** `built` and `started` are false where the host says so; an answer of the function counts whatever its status. */
interface Verdict {
  readonly label: string
  readonly kind: 'answered' | 'not built' | 'not started' | 'no answer' | 'aside'
  readonly said: string
}

describe.skipIf(folder === '')('functions of real projects', () => {
  const judged: Verdict[] = []
  let mirror: Awaited<ReturnType<typeof openMirror>>
  let home: string
  let api: string
  beforeAll(async () => {
    home = env['TERRANE_EXAMPLES_HOME'] ?? (await mkdtemp(join(tmpdir(), 'terrane-projects-')))
    if (!env['TERRANE_EXAMPLES_HOME']) stack.defer(() => rm(home, { recursive: true, force: true }))
    mirror = stack.use(await openMirror(repositories, home))
    Object.assign(env, mirror.env)
    // The project's API: no rows, and no user is signed in.
    const server = createServer((request, response) => {
      request.resume()
      response.setHeader('content-type', 'application/json')
      response.end(request.url?.startsWith('/rest/') ? '[]' : '{}')
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    stack.defer(() => void server.close())
    api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await writeFile(RESULTS, '')
  })

  test.each(present)('%s is judged', async (name) => {
    for (const project of await projectsOf(repositories, name, join(home, 'projects'))) {
      await writeSecrets(join(project.folder, 'functions'))
      await judgeProject(project, { hosts: mirror.hosts, api, judged })
      expect(judged.length).toBeGreaterThan(0)
    }
  })

  test.each(WORKERS.filter((name) => folder !== '' && ONLY.test(name) && repositories.has(name)))(
    'Workers of %s are judged',
    async (name) => {
      for (const project of await workersOf(repositories, name, home))
        await judgeProject(project, { hosts: mirror.hosts, api, judged })
      expect(judged.length).toBeGreaterThan(0)
    },
  )

  test('95 in 100 build and start, 90 in 100 answer', () => {
    const counted = judged.filter(({ kind }) => kind !== 'aside')
    const share = (...kinds: readonly Verdict['kind'][]) =>
      counted.filter(({ kind }) => kinds.includes(kind)).length / counted.length
    for (const address of new Set(mirror.missing)) process.stdout.write(`the mirror lacks ${address}\n`)
    expect(share('answered', 'no answer')).toBeGreaterThanOrEqual(0.95)
    expect(share('answered')).toBeGreaterThanOrEqual(0.9)
  })
})

async function judgeProject(
  { repository, folder: root, names }: SupabaseProject,
  { hosts, api, judged }: { readonly hosts: readonly string[]; readonly api: string; readonly judged: Verdict[] },
): Promise<void> {
  await using app = await startApp({
    TERRANE_FUNCTIONS_DIR: root,
    TERRANE_FUNCTIONS_OWN_ORIGIN: 'true',
    TERRANE_FUNCTIONS_IMPORT_HOSTS: hosts.join(','),
    TERRANE_PROJECT_URL: api,
    TERRANE_SETTINGS: '{"functions":{"bootTimeoutMs":30000}}',
  })
  const waiting = [...names]
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const { kind, said } = await judge(app, name)
      const lacks = rulesOf(join(root, name))?.worker?.unavailable ?? []
      const isLacking = lacks.length > 0 && kind !== 'answered'
      const verdict: Verdict = {
        label: `${repository}: ${name}`,
        kind: isLacking ? 'aside' : kind,
        said: isLacking ? `needs ${lacks.join(', ')}: ${said}` : said,
      }
      judged.push(verdict)
      await appendFile(RESULTS, `${JSON.stringify(verdict)}\n`)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, work))
}

async function judge(app: TestApp, name: string): Promise<Omit<Verdict, 'label'>> {
  const log = () => app.deps.control.logBook.latest('test', name, 50)
  const state = () => log().find(({ message }) => message === 'function built' || message === 'function not built')
  const until = Date.now() + 240_000
  while (!state() && Date.now() < until) {
    await fetch(app.url(name), { method: 'OPTIONS' }).then((response) => response.body?.cancel(), ignore)
  }
  const built = state()
  const reasons = () =>
    log()
      .filter(({ level }) => level === 'error')
      .map(({ message, fields }) => message + JSON.stringify(fields ?? ''))
      .join(' ')
      .slice(0, 1500)
  if (built?.message !== 'function built') {
    const said = built ? reasons() : 'was not built in four minutes'
    return { kind: /the mirror|Import 'https:\S+' failed|cannot be fetched/.test(said) ? 'aside' : 'not built', said }
  }
  let said = ''
  for (const method of ['POST', 'GET'])
    try {
      const response = await fetch(app.url(name), {
        method,
        redirect: 'manual',
        signal: AbortSignal.timeout(ANSWER_MS),
        headers: { apikey: SERVICE_KEY, authorization: `Bearer ${SERVICE_KEY}`, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: '{"name":"you","url":"https://outside.test/"}' }),
      })
      const code = response.headers.get('x-error-code')
      const text = `${method} ${response.status} ${code ?? ''} ${(await response.text()).slice(0, 200)}`
      if (code === null) return { kind: 'answered', said: text }
      said += text
      if (/BOOT/.test(text)) return { kind: 'not started', said: `${text} ${reasons()}` }
    } catch (error) {
      said += String(error)
    }
  said = `${said} ${reasons()}`
  return { kind: OUTSIDE.test(said) ? 'aside' : 'no answer', said }
}

function ignore(): void {}
