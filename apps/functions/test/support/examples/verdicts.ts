/** Result of running an example. */
export interface Verdict {
  /**
   * `answered`: with a status of its own below 500. `ended`: as it is made to. `aside`: it cannot run without something
   * that is not here, as what it said shows. `failed`: all else.
   */
  readonly kind: 'answered' | 'ended' | 'aside' | 'failed'
  readonly reason: string
}

type Rule = readonly [reason: string, examples: RegExp, said: RegExp]

/** Test cases of a runtime that are meant to end badly, and how this host must end them. */
const MADE_TO_END: readonly Rule[] = [
  ['throws at its start', /: boot_err_user_worker$/, /Error: fail/],
  ['takes more memory than it may', /: (?:array-alloc(?:-sync)?|heap_limit)$/, /too much memory|SIGTRAP|SIGKILL/],
  // Its own test, `test_tmp_fs_should_not_be_available_in_import_stmt`, expects that the module is not found.
  ['imports code that it wrote to /tmp', /: use-tmp-fs-in-import-stmt$/, /Could not resolve \S*\/tmp\//],
  ['imports what is not there', /: (?:graph-error-\d|invalid_imports)$/, /function not built/],
  [
    'never lets go of the CPU',
    /: (?:cpu-sync|infinite_loop|issue-func-284\/noisy)$/,
    /not ready within|RESOURCE_LIMIT/,
  ],
  ['never settles', /: (?:infinite_promises|unresolved_promise|supabase-issue-29583)$/, /not ready within|TIMEOUT/],
  ['gives no valid answer', /: return-invalid-resp(?:-2)?$/, /INVALID_RESPONSE/],
  ['has no handler', /: /, /no handler: export default/],
]

/** Requirements without which an example cannot run, and the error that shows it. */
const NEEDS: readonly Rule[] = [
  [
    'a module that the mirror lacks',
    /: /,
    /code from \S+ is not imported|what it imports cannot be fetched|Import 'https:\S+' failed/,
  ],
  [
    'a file that the copy of its repository lacks',
    /: (?:read_file_sync_20mib|wasm\/(?:shared|grow_20mib|heap))$/,
    /20mib|Requires read/,
  ],
  ['a database or a server of its test', /: (?:postgres-on-the-edge|issue-208)$/, /Missing connection|^500/],
  ['an account, a model or a site outside', /: /, /fetch to (?!localhost|127\.)\S+ is not allowed/],
  [
    'it is the main program of another host, which starts workers',
    /main|rate-limit|user-worker|event-manager/,
    /reading 'create'|reading 'fetch'|test_cases|\.blocklisted|EventManager is not/,
  ],
  [
    'models of another host',
    /ai|ort|transformer|gte|embedding|k6/,
    /Supabase is not defined|property 'Tensor'|Session|reading 'wasm'/,
  ],
]

/** Examples that speak WebSocket; their answer to a plain request proves nothing. */
export const SPEAKS = /: (?:websocket-upgrade(?:-\S+)?|commonjs-\w+-websocket|node-ws|oak-ws|ws)$/

/** Examples whose only route is their own name, so a 404 of their router is a failure. */
export const NAMED = /: fastify-\S+$/

/** @param said status and code of the last answer, and the errors of its log */
export function judgeExample(label: string, answered: boolean, said: string): Verdict {
  const rule = (rules: readonly Rule[]) =>
    rules.find(([, examples, saying]) => examples.test(label) && saying.test(said))
  if (answered) return { kind: 'answered', reason: '' }
  const ended = rule(MADE_TO_END)
  if (ended) return { kind: 'ended', reason: ended[0] }
  const needed = rule(NEEDS)
  return needed ? { kind: 'aside', reason: needed[0] } : { kind: 'failed', reason: '' }
}
