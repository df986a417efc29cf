import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startPgliteServer } from './server.ts'
import { lockFolder } from './folder-lock.ts'

async function folder(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'folder-lock-'))
  onTestFinished(() => rm(parent, { recursive: true, force: true }))
  return join(parent, 'home', 'data')
}

test('a folder is held by one until it lets go', async () => {
  const data = await folder()
  const held = lockFolder(data)
  expect(held).not.toBeNull()
  expect(lockFolder(data)).toBeNull()
  held?.[Symbol.dispose]()
  using again = lockFolder(data)
  expect(again).not.toBeNull()
})

test('one that another process holds is free as soon as that is killed', async () => {
  const data = await folder()
  const program = `import { lockFolder } from ${JSON.stringify(new URL('folder-lock.ts', import.meta.url).href)}
    globalThis.held = lockFolder(${JSON.stringify(data)}); process.send('held'); setInterval(() => {}, 1000)`
  const holder = fork('-', { execArgv: ['--input-type=module-typescript', '--eval', program] })
  await once(holder, 'message')
  expect(lockFolder(data)).toBeNull()
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  using free = lockFolder(data)
  expect(free).not.toBeNull()
})

test('a second server does not open the folder of one that runs', async () => {
  const data = await folder()
  await using first = await startPgliteServer({ dataDir: data })
  await expect(startPgliteServer({ dataDir: data })).rejects.toMatchObject({
    code: 'EMBEDDED_DATABASE',
    message: expect.stringContaining(`another process has its data folder ${data} open`) as string,
  })
  expect(first.url).toContain('postgres://')
})
