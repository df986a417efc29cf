import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { FunctionVersion } from '../function-version.ts'
import { createDoor } from './door.ts'

test('a fetch leaves by http and https alone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-door-'))
  const sockets = { database: null, policy: {}, onRefused() {} }
  using door = createDoor(({ response, target }) => response.end(target.href), sockets)
  const paths = { gateway: join(folder, 'g'), sockets: join(folder, 's') }
  const opened = await door.open(paths, {} as FunctionVersion, () => null)
  const statusOf = (target: string) =>
    new Promise((resolve, reject) => {
      const asked = request({ socketPath: paths.gateway, agent: false, headers: { 'x-terrane-target': target } })
      asked.once('response', (answer) => resolve(answer.resume().statusCode))
      asked.once('error', reject).end()
    })
  const targets = ['http://a.example/', 'https://a.example/', 'ftp://a.example/', 'ws://project.internal/', 'nonsense']
  expect(await Promise.all(targets.map(statusOf))).toEqual([200, 200, 403, 403, 403])
  await opened[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})
