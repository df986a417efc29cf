// Webhooks whose senders know no key of the project: the function checks them itself, by the bytes that were sent.
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startHost } from './support/host.ts'
import { tryRuntime } from './support/runtimes.ts'

const BODY = '{"id": 1,\n "text": "€ \\u00e9"}'
const hmac = (text: string) => createHmac('sha256', 'the-secret').update(text).digest('hex')
const KEY = `const key = await crypto.subtle.importKey('raw', new TextEncoder().encode('the-secret'), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  const isOf = (hex, text) => crypto.subtle.verify('HMAC', key, Uint8Array.from(hex.match(/../g), (byte) => parseInt(byte, 16)), new TextEncoder().encode(text))`
const answer = (check: string) =>
  `${KEY}\nexport default async (request) => { const text = await request.text(), of = (name) => request.headers.get(name) ?? ''; return new Response(null, { status: ${check} ? 200 : 401 }) }`

const SENDERS: Readonly<Record<string, readonly [check: string, headers: (body: string) => Record<string, string>]>> = {
  GitHub: [
    `await isOf(of('x-hub-signature-256').slice(7), text)`,
    (body) => ({ 'x-github-event': 'push', 'x-hub-signature-256': `sha256=${hmac(body)}` }),
  ],
  Stripe: [
    `await isOf(of('stripe-signature').split('v1=')[1], of('stripe-signature').slice(2).split(',')[0] + '.' + text)`,
    (body) => ({ 'stripe-signature': `t=1700000000,v1=${hmac(`1700000000.${body}`)}` }),
  ],
  Telegram: [
    `of('x-telegram-bot-api-secret-token') === 'the-secret'`,
    (body) => ({ 'x-telegram-bot-api-secret-token': body === BODY ? 'the-secret' : 'another' }),
  ],
}

const { probed, title } = await tryRuntime('deno', 'standard')
describe.skipIf(!probed)(`webhooks of senders outside: ${title}`, () => {
  test.each(Object.entries(SENDERS))('%s', async (_, [check, headers]) => {
    await using host = await startHost(probed!)
    await host.deploy('hook', answer(check), { policy: { auth: 'none' } })
    const send = async (signed: string) =>
      (await fetch(host.url('hook'), { method: 'POST', body: BODY, headers: headers(signed) })).status
    expect([await send(BODY), await send('{}')]).toEqual([200, 401])
  })
})
