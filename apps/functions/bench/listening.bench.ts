// For a folder of 500 functions: time until the host listens, and until a new function answers while the others are
// built.
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ANON_KEY, startHost } from './support/host.ts'

const COUNT = 500
const sourceOf = (name: string) => `export default () => new Response('${name}')`
const names = Array.from({ length: COUNT }, (_, i) => `fn-${i}`)
const functions = Object.fromEntries(names.map((name) => [name, { source: sourceOf(name) }]))
await using host = await startHost(functions)
const listening = performance.now() - host.written
console.log(`${COUNT} functions: listening after ${(listening / 1000).toFixed(2)} s   (goal < 2)`)

const added = performance.now()
await mkdir(join(host.folder, 'functions', 'added'))
await writeFile(join(host.folder, 'functions', 'added', 'index.ts'), sourceOf('added'))
await writeFile(join(host.folder, 'functions', 'added', 'function.json'), '{"auth":"anon","methods":["GET"]}')
const call = () => fetch(host.url('added'), { headers: { apikey: ANON_KEY } })
let answer = await call()
for (; answer.status === 404; answer = await call()) await sleep(20)
assert.equal(await answer.text(), 'added')
console.log(`a new one beside them: answers after ${((performance.now() - added) / 1000).toFixed(2)} s   (goal < 1)`)
