import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { createHttp, createLogger } from '../index.ts'

const Query = Type.Object({
  name: Type.Optional(Type.String()),
  limit: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  band: Type.Optional(Type.Array(Type.Integer())),
})

async function openApp() {
  const app = createHttp({ logger: createLogger({ name: 'test', level: 'silent' }) })
  app.get('/declared', { schema: { querystring: Query } }, async (request) => request.query)
  app.get('/free', async (request) => request.query)
  await app.ready()
  return app
}

test('a declared parameter stands once unless it is a list; others are the route’s to read', async () => {
  await using app = await openApp()
  const ask = async (url: string) => {
    const { statusCode, body } = await app.inject(url)
    return [statusCode, JSON.parse(body)]
  }
  for (const query of ['name=a&name=a', 'limit=1&limit=2', 'x=1&name=a&x=2&name=b', 'name=a&n%61me=b']) {
    expect(await ask(`/declared?${query}`)).toMatchObject([400, { code: 'PARAMETER_REPEATED' }])
  }
  expect(await ask('/declared?name=a%3D&band=1&band=2')).toEqual([200, { name: 'a=', band: [1, 2] }])
  expect(await ask('/free?a=1&a=2&a=3&b=x+y&__proto__=z')).toEqual([
    200,
    JSON.parse('{"a":["1","2","3"],"b":"x y","__proto__":"z"}'),
  ])
})
