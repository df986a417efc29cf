import { readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { probeRuntime } from '../src/runtime/probe.ts'
import { reachableTwin } from '../src/runtime/reachable.ts'
import { ANON_KEY, startApp } from './support/app.ts'

const isRoot = process.getuid?.() === 0
const why = isRoot ? '' : ' (SKIPPED: the tests are not root)'

test.skipIf(!isRoot)(`a function of a host that is root is another user, wherever its state is${why}`, async () => {
  const closed = await mkdtemp(join(tmpdir(), 'terrane-closed-'))
  await chmod(closed, 0o700)
  const home = join(closed, 'home')
  const functions = join(closed, 'functions')
  await mkdir(functions)
  {
    await using app = await startApp({ TERRANE_HOME: home, TERRANE_FUNCTIONS_DIR: functions })
    await mkdir(join(functions, 'who'))
    await writeFile(join(functions, 'who/index.ts'), `export default () => new Response('here')`)
    const call = () => fetch(app.url('who'), { method: 'POST', headers: { apikey: ANON_KEY } })
    await expect.poll(async () => (await call()).text()).toBe('here')
    const [instance] = app.deps.control.functions.get('test', 'who')!.pool
    const status = readFileSync(`/proc/${instance!.pid}/status`, 'utf8')
    const uids = /^Uid:\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)/m.exec(status)!.slice(1).map(Number)
    expect(uids.every((uid) => uid >= 230_000)).toBe(true)
    expect(/^Groups:\s*$/m.test(status)).toBe(true)
  }
  await rm(await reachableTwin(join(home, 'functions')), { recursive: true })
  await rm(closed, { recursive: true })
})

test('a host that is root and cannot give functions a user of their own refuses, and says what to do', async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'terrane-state-'))
  const wish = { runtime: 'auto', profile: 'standard', stateDir, path: '' } as const
  // User ids that no process can take, so the trial fails as without CAP_SETUID.
  const refused = probeRuntime({ ...wish, users: { first: 4_294_967_295, count: 1 } })
  await expect(refused).rejects.toMatchObject({
    code: 'FUNCTION_RUNTIME_UNAVAILABLE',
    hint: expect.stringContaining('run the host as an ordinary user') as string,
  })
  await rm(stateDir, { recursive: true })
})
