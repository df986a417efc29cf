/**
 * Environment variables for programs that tests start: a shared cache of Node's compiled modules. Without it a short
 * program spends most of its time compiling. Empty when the run has no cache.
 */
export const compileCache: Readonly<Record<string, string>> = (() => {
  // oxlint-disable-next-line node/no-process-env -- Set for the whole run by its first program.
  const { NODE_COMPILE_CACHE } = process.env
  return NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}
})()
