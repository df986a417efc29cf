/** Hosts that Deno itself lets code be imported from. */
export const DEFAULT_IMPORT_HOSTS = [
  'deno.land',
  'jsr.io',
  'esm.sh',
  'cdn.jsdelivr.net',
  'raw.githubusercontent.com',
  'gist.githubusercontent.com',
]
