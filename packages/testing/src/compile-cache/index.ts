/** Environment for programs of tests: a shared cache of compiled modules, because short programs mostly compile. */
export const compileCache: Readonly<Record<string, string>> = (() => {
  // oxlint-disable-next-line node/no-process-env -- Set for the whole run by its first program.
  const { NODE_COMPILE_CACHE } = process.env
  return NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}
})()
