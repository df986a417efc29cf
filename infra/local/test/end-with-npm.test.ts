import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const MODULE = fileURLToPath(new URL('../../end-with-npm.mjs', import.meta.url))
/** An npm script: it starts a child that stays, and reports the child's end. */
const SCRIPT = `
  import { spawn } from 'node:child_process'
  import { endWithNpm } from ${JSON.stringify(MODULE)}
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  child.on('exit', (_, signal) => console.log('child ended by ' + signal))
  const unwatch = endWithNpm(child)
  child.on('exit', unwatch)
  console.log(child.pid)
`
/** Replaces npm: runs the script, prints its process id, and stays. */
const NPM = `
  const { spawn } = require('node:child_process')
  const args = ['--input-type=module', '-e', ${JSON.stringify(SCRIPT)}]
  const script = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  console.log('script', script.pid)
  setInterval(() => {}, 1000)
`

test.skipIf(process.platform === 'win32')('a script of npm does not outlive an npm that was ended', async () => {
  // oxlint-disable-next-line node/no-process-env -- What npm adds to the environment of its scripts.
  const env = { ...process.env, npm_lifecycle_event: 'start' }
  const npm = spawn(process.execPath, ['-e', NPM], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const said: string[] = []
  for await (const line of createInterface({ input: npm.stdout })) {
    said.push(line)
    if (said.length === 2) npm.kill('SIGKILL')
  }
  if (npm.exitCode === null && npm.signalCode === null) await once(npm, 'exit')
  expect(said.at(-1)).toBe('child ended by SIGTERM')
})
