import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

import type { Mutation } from './mutations.ts'

// Loads one file with one number replaced. `node --import mutant.ts …`, the mutation as JSON in TERRANE_MUTATION.
// oxlint-disable-next-line node/no-process-env -- a test runner that this is loaded into has no arguments for it
const { file, at, before, after } = JSON.parse(process.env.TERRANE_MUTATION!) as Mutation
const target = pathToFileURL(file).href
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    if (url.split('?')[0] !== target) return loaded
    const source = String(loaded.source)
    return { ...loaded, source: source.slice(0, at) + after + source.slice(at + before.length) }
  },
})
