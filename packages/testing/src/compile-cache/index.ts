/**
 * For the environment of a program that a test starts: where Node keeps what it compiled of the modules that earlier
 * programs loaded. Without it most of the time of a short program goes into compiling; empty where the run keeps nothing.
 */
export const compileCache: Readonly<Record<string, string>> = (() => {
  // oxlint-disable-next-line node/no-process-env -- Set for the whole run by its first program.
  const { NODE_COMPILE_CACHE } = process.env
  return NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}
})()
