import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { GatewayDoor } from '../src/pool/factory.ts'
import { startHost } from './support/host.ts'
import { tryRuntime } from './support/runtimes.ts'

// An unhandled rejection ends a process; here it fails the run.
const { probed, title } = await tryRuntime('deno', 'standard')

test.skipIf(!probed)(`a function that cannot be looked up is a clear refusal: ${title}`, async () => {
  const host = await startHost({ ...probed!, find: () => Promise.reject(new Error('the registry is gone')) })
  onTestFinished(() => host[Symbol.asyncDispose]())
  const answer = await fetch(host.url('known'))
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await answer.json()).toMatchObject({ code: 'FUNCTION_BOOT_ERROR' })
  await host.deploy('served', `export default () => new Response('yes')`)
  expect(await (await fetch(host.url('served'))).text()).toBe('yes')
})

test.skipIf(!probed)(`what an instance leaves behind is told, and the host goes on: ${title}`, async () => {
  const door: GatewayDoor = {
    async open({ gateway, sockets }) {
      await Promise.all([mkdir(gateway), mkdir(sockets)])
      return { [Symbol.asyncDispose]: () => Promise.reject(new Error('the socket cannot be removed')) }
    },
  }
  const host = await startHost({ ...probed!, door })
  onTestFinished(() => host[Symbol.asyncDispose]())
  await host.deploy('short', `export default () => { setTimeout(() => Deno.exit(1), 1); return new Response('yes') }`)
  await fetch(host.url('short')).then((answer) => answer.text(), () => null) // prettier-ignore
  await expect.poll(() => host.left.length).toBeGreaterThan(0)
  expect(dirname(host.left[0]!)).toBe(host.factory.base)
})
