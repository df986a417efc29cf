import { join } from 'node:path'
import { TerraneError } from '@terrane/core'
import { workingCommands } from './commands.ts'
import { runDemo } from './demo/demo.ts'
import { CONSOLE_EMAIL, loadKeys, type Keys } from './keys.ts'
import { readSettings } from './settings.ts'
import { startStack, type Stack } from './stack.ts'

const USAGE = `Usage: npm start [-- --once] [--no-demo]

Brings up the whole stack on this machine and runs the demo once.
  --once      stop after the demo: exit code 0 when every step worked
  --no-demo   only bring the stack up
`

const flags = new Set(process.argv.slice(2))
for (const flag of flags) {
  if (['--once', '--no-demo'].includes(flag)) continue
  process.stdout.write(USAGE)
  process.exit(flag === '--help' ? 0 : 2)
}
process.exitCode = await main()

async function main(): Promise<number> {
  const stopping = new AbortController()
  const stopped = stopAsked(stopping)
  try {
    const settings = readSettings(process.env)
    const keys = await loadKeys(settings.home, settings.projectRef)
    await using stack = await startStack(settings, keys, stopping.signal)
    const worked =
      flags.has('--no-demo') || (await Promise.race([runDemo(stack, keys, settings.home, stopping.signal), stopped]))
    if (flags.has('--once')) return worked === false ? 1 : 0
    if (!stopping.signal.aborted) printHelp(stack, keys, settings.home, await workingCommands(stack, keys))
    await stopped
    process.stdout.write('Stopping ...\n')
    return 0
  } catch (error) {
    if (stopping.signal.aborted) return 0
    process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`)
    if (error instanceof TerraneError && error.hint) process.stderr.write(`${error.hint}\n`)
    return 1
  }
}

/** Resolves at the first Ctrl-C or SIGTERM; a second one ends the process at once. */
function stopAsked(stopping: AbortController): Promise<void> {
  return new Promise((resolve) => {
    let asked = false
    const stop = () => {
      if (asked) process.exit(130)
      asked = true
      stopping.abort()
      resolve()
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  })
}

function printHelp(stack: Stack, keys: Keys, home: string, commands: readonly string[]): void {
  process.stdout.write(`
Terrane is up.
  console       ${stack.consoleUrl}
                sign in as ${CONSOLE_EMAIL}, first password ${keys.consolePassword}
  worker        ${stack.workerUrl}      (its API for people: ${stack.workerUrl}/ui)
  origin        ${stack.originUrl}      (rest, rpc, storage, functions, routes)
  router        ${stack.routerUrl}
  data folder   ${join(home, 'data')}      (files that jobs may read by their path)
  database      ${stack.databaseUrl.replace(/:[^:@/]*@/, ':***@')}
  anon key      ${keys.anonKey}
  service key   ${keys.serviceRoleKey}
  services key  ${keys.servicesKey}      (routes)
  metrics key   ${keys.metricsKey}      (Bearer of /metrics)

Try:
${commands.map((command) => `  ${command}`).join('\n')}

Ctrl-C stops everything; the data stay in the state folder.
`)
}
