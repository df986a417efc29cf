import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

test(
  'a build ends with its router, even while it computes, and takes its draft along',
  { timeout: 60_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'terrane-router-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const draft = join(folder, 'draft-1')
    await mkdir(draft)
    await writeFile(join(draft, 'graph.bin'), 'half')
    const script = fileURLToPath(new URL('../../test/fixtures/router-with-build.ts', import.meta.url))
    const router = spawn(process.execPath, [script, draft], { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void router.kill('SIGKILL'))
    const [line] = (await once(router.stdout, 'data')) as [Buffer]
    const build = Number(line.toString())
    expect(isAlive(build)).toBe(true)
    expect(existsSync(draft)).toBe(true)
    router.kill('SIGKILL')
    await expect.poll(() => isAlive(build), { timeout: 30_000 }).toBe(false)
    expect(existsSync(draft)).toBe(false)
  },
)

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
