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
  const stopped = stopAsked()
  try {
    const settings = readSettings(process.env)
    const keys = await loadKeys(settings.home, settings.projectRef)
    await using stack = await startStack(settings, keys)
    if (!flags.has('--no-demo')) await Promise.race([runDemo(stack, keys, settings.home), stack.failed, stopped])
    if (flags.has('--once')) return 0
    printHelp(stack, keys)
    await Promise.race([stopped, stack.failed])
    process.stdout.write('Stopping ...\n')
    return 0
  } catch (error) {
    process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  }
}

/** Resolves at the first Ctrl-C or SIGTERM; a second one ends the process at once. */
function stopAsked(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false
    const stop = () => {
      if (asked) process.exit(130)
      asked = true
      resolve()
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  })
}

function printHelp(stack: Stack, keys: Keys): void {
  process.stdout.write(`
Terrane is up.
  console       ${stack.consoleUrl}      (also at ${stack.originUrl}/)
                sign in as ${CONSOLE_EMAIL}, first password ${keys.consolePassword}
  worker        ${stack.workerUrl}      (its API for people: ${stack.workerUrl}/ui)
  origin        ${stack.originUrl}      (rest, rpc, storage, functions, routes)
  router        ${stack.routerUrl}
  database      ${stack.databaseUrl.replace(/:[^:@/]*@/, ':***@')}
  anon key      ${keys.anonKey}
  service key   ${keys.serviceRoleKey}
  services key  ${keys.servicesKey}      (routes)

Try:
  curl ${stack.workerUrl}/capacity ${bothHeaders(keys.serviceRoleKey)}
  curl "${stack.workerUrl}/jobs/createGeoEmbeddings?limit=3" ${bothHeaders(keys.serviceRoleKey)}
  curl ${stack.originUrl}/rest/v1/rpc/similarity_search -H "apikey: ${keys.anonKey}" -H "Content-Profile: geoembeddings" -H "Content-Type: application/json" -d '{"table_name":"demo_scene","lon":11.6,"lat":48.1,"result_limit":5}'
  curl ${stack.originUrl}/routing-engine/v1/route -H "apikey: ${keys.servicesKey}" -d '{"locations":[{"lat":48.089,"lon":11.586},{"lat":48.102,"lon":11.594}],"costing":"bicycle"}'
  curl ${stack.originUrl}/functions/v1/hello -d '{"name":"Ada"}'

Ctrl-C stops everything; the data stay in the state folder.
`)
}

/** The worker wants the key twice. */
function bothHeaders(key: string): string {
  return `-H "apikey: ${key}" -H "Authorization: Bearer ${key}"`
}
