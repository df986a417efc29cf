/** Examples that no runtime like this one is meant to answer, by what they need or do. The first pattern that fits counts. */
const REASONS: readonly (readonly [reason: string, pattern: RegExp])[] = [
  [
    'made to exceed a limit, to fail, or never to settle',
    /: (?:array-alloc|array-alloc-sync|boot_err_user_worker|cpu-sync|cpu|graph-error-\d|heap_limit|infinite_loop|infinite_promises|invalid_imports|return-invalid-resp(?:-2)?|unresolved_promise|waste-cpu-time|mark-background-task(?:-2)?|slow_resp|issue-func-28\d\/\w+|early-drop-\w+|event-manager|runtime-event|tls_invalid_data)$/,
  ],
  [
    'starts workers of its own',
    /: (?:main\w*|.*\/main|main-empty|rate-limit-main|rate-limit-\w+|user-worker-san-check)$/,
  ],
  [
    'uses the AI of Supabase, or fetches a model',
    /: (?:.*ai-ort-rust-backend.*|supabase-ai|.*transformers-js.*|transformer-\w+|supa-ai-\w+|ort-rust-backend|k6-\w+|gte-\w+|generate-\w*-?embeddings|generate-image-embeddings)/,
  ],
  ['WebSocket, a later step', /websocket|: (?:ws|oak-ws|node-ws)$/],
  [
    'has no handler',
    /: (?:array_buffers|eszip-silly-test|jsx|jsx-preact|node-built-in|node-builtin|resolve_promise_\w+|use-tmp-fs-in-import-stmt)$/,
  ],
  [
    'needs a server, an account, a package or a file that is not there',
    /: (?:concurrent-redirect|issue-208|issue-func-205|private-npm-package-import(?:-2)?|read_file_sync_20mib|readfile|supabase-issue-29583|use-tmp-fs-2|postgres-on-the-edge|upstash-redis-counter|stripe-web-hook)$/,
  ],
]

/** Why an example does not count; null for one that does. */
export function reasonToSetAside(label: string): string | null {
  return REASONS.find(([, pattern]) => pattern.test(label))?.[0] ?? null
}
