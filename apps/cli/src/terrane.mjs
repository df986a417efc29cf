#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

// JavaScript that calls it before any TypeScript is loaded: Node then strips no types, whose compiler takes as long as
// Node itself. Node below 22.8 does not have it.
enableCompileCache?.()
// By its address, so that the linter's types of plain JavaScript do not depend on the command line.
await import(new URL('main.ts', import.meta.url).href)
