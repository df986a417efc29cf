import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { openScopes } from './deno-scopes.ts'

const internal = Symbol('internal')

/** Deno's primitive, as its `AsyncLocalStorage` uses it, made of Node's. */
function denoWithCore() {
  const carrier = new AsyncLocalStorage<unknown>()
  const core = {
    getAsyncContext: () => carrier.getStore(),
    setAsyncContext: (value: unknown) => carrier.enterWith(value),
  }
  return { deno: { internal, [internal]: { core: core as never } }, core }
}

const scopeOf = (call: string) => ({ requestId: `request ${call}`, call, claims: null, client: '', held: 0 })

describe.each([
  ['over the primitive', () => denoWithCore().deno],
  ['without it', () => ({})],
  ['with another core', () => ({ internal, [internal]: { core: {} } })],
])('scopes %s', (_name, denoOf) => {
  test('each of many calls finds its own after every wait, and nothing is left behind', async () => {
    const scopes = await openScopes(denoOf())
    const call = async (name: string, waits: number) => {
      for (let i = 0; i < waits; i++) {
        expect(scopes.getStore()?.call).toBe(name)
        await turn()
      }
      return scopes.getStore()?.requestId
    }
    const names = Array.from({ length: 20 }, (_, i) => String(i))
    const found = await Promise.all(names.map((name, i) => scopes.run(scopeOf(name), call, name, i % 5)))
    expect(found).toEqual(names.map((name) => `request ${name}`))
    expect(scopes.getStore()).toBeUndefined()
  })

  test('a call that throws leaves the one around it', async () => {
    const scopes = await openScopes(denoOf())
    const fail = () => {
      throw new Error('no')
    }
    scopes.run(scopeOf('outer'), () => {
      expect(() => scopes.run(scopeOf('inner'), fail)).toThrow('no')
      expect(scopes.getStore()?.call).toBe('outer')
    })
  })
})

test('values of others that follow the flow are carried along', async () => {
  const { deno, core } = denoWithCore()
  const scopes = await openScopes(deno)
  core.setAsyncContext({ 7: 'theirs' })
  scopes.run(scopeOf('1'), () => expect(core.getAsyncContext()).toMatchObject({ 7: 'theirs' }))
  expect(core.getAsyncContext()).toEqual({ 7: 'theirs' })
})
