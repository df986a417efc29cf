import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

interface Schema {
  readonly type?: unknown
  readonly format?: string
  readonly required?: string[]
  readonly properties: Record<string, Record<string, unknown>>
}
interface Document {
  readonly paths: Record<string, Record<string, { summary?: string; description?: string }>>
  readonly definitions: Record<string, Schema>
  readonly components: { readonly schemas: Record<string, Schema> }
}

let origin: TestOrigin
beforeAll(async () => {
  origin = await openOrigin()
  await origin.db.database.query(`
    create type public.mood as enum ('calm', 'it''s late');
    create table public.owners (id uuid primary key, name varchar(20) not null default 'no one');
    create table public."odd/na~me" (
      id bigint generated always as identity primary key, owner uuid references public.owners (id), state public.mood, size numeric(8, 2),
      tags jsonb not null default '{}', list int[], at timestamptz not null default now(), geom geometry(Point, 4326), secret text, n int default 3
    );
    comment on table public."odd/na~me" is 'Places.
And what is known of them.';
    comment on column public."odd/na~me".size is 'In metres.';
    grant select (id, owner, state, size, tags, list, at, geom, n) on public."odd/na~me" to anon;
    grant select, insert, update, delete on public."odd/na~me" to authenticated;
    create table public.hidden (id int);
    create view public.seen as select 1 as one;
    grant select on public.seen to anon;
    create function public.near(x float8, y float8, metres float8 default 10) returns setof public.owners language sql stable as 'select * from public.owners';
    comment on function public.near is 'Owners near a place.';
    create function public.wipe(n int) returns void language sql as 'delete from public.hidden where id = n';
    create function public.twice(a int) returns int language sql immutable as 'select 2 * a';
    create function public.twice(a text) returns text language sql immutable as 'select a || a';
    create function public.mine() returns int language sql as 'select 1';
    revoke execute on function public.mine() from public;
  `)
})
afterAll(() => origin[Symbol.asyncDispose]())

const ask = async (key: string, path = '/rest/v1/', headers: Record<string, string> = {}) => {
  const response = await fetch(`${origin.url}${path}`, { headers: { apikey: key, ...headers } })
  expect(response.status).toBe(200)
  return { response, document: (await response.json()) as Document }
}

describe('what a schema shows of itself', () => {
  test('is a valid Swagger 2.0 document, and a valid OpenAPI 3.1 document where the client asks for one', async () => {
    for (const key of [origin.keys.anon, origin.keys.user, origin.keys.service]) {
      const old = await ask(key)
      expect(old.response.headers.get('content-type')).toBe('application/openapi+json; charset=utf-8')
      const byHeader = await ask(key, '/rest/v1/', { accept: 'application/vnd.oai.openapi+json;version=3.1' })
      const byQuery = await ask(key, '/rest/v1/?openapi=3.1')
      expect(byQuery.document).toEqual(byHeader.document)
      for (const [document, version] of [
        [old.document, '2.0'],
        [byQuery.document, '3.1'],
      ] as const) {
        const validator = new Validator()
        const { valid, errors } = await validator.validate({ ...document })
        expect({ valid, errors: errors ?? null }).toEqual({ valid: true, errors: null })
        expect(validator.version).toBe(version)
        expect(danglingReferences(document)).toEqual([])
      }
    }
  })
  test('is what the caller may use, and nothing of the rest', async () => {
    const anon = (await ask(origin.keys.anon)).document
    const user = (await ask(origin.keys.user)).document
    expect(Object.keys(anon.paths['/odd%2Fna~me'] ?? {})).toEqual(['get'])
    expect(Object.keys(user.paths['/odd%2Fna~me'] ?? {}).toSorted()).toEqual(['delete', 'get', 'patch', 'post'])
    expect(anon.definitions['odd/na~me']?.properties).not.toHaveProperty('secret')
    expect(user.definitions['odd/na~me']?.properties).toHaveProperty('secret')
    expect(anon.definitions).not.toHaveProperty('hidden')
    expect(anon.definitions).toHaveProperty('seen')
    expect(JSON.stringify(anon)).not.toMatch(/"\/rpc\/mine"|st_area|spatial_ref_sys/)
    expect(Object.keys(anon.paths['/rpc/near'] ?? {}).toSorted()).toEqual(['get', 'post'])
    expect(Object.keys(anon.paths['/rpc/wipe'] ?? {})).toEqual(['post'])
    expect(anon.paths['/rpc/twice']?.post?.description).toContain('One of 2 overloads')
  })
  test('tells types, keys, defaults and comments', async () => {
    const { definitions, paths } = (await ask(origin.keys.user)).document
    const { properties, required } = definitions['odd/na~me'] as Schema
    expect(required).toEqual(['id', 'tags', 'at'])
    expect(properties).toMatchObject({
      id: { type: 'integer', format: 'bigint', description: expect.stringContaining('<pk/>') },
      owner: {
        type: 'string',
        format: 'uuid',
        description: expect.stringContaining("<fk table='owners' column='id'/>"),
      },
      state: { type: 'string', enum: ['calm', "it's late"] },
      size: { type: 'number', format: 'numeric(8,2)', description: 'In metres.' },
      list: { type: 'array', items: { type: 'integer' } },
      geom: { type: 'object', format: 'geometry(Point,4326)' },
      n: { default: 3 },
    })
    expect(properties.tags).toEqual({ format: 'jsonb' })
    expect(definitions.owners).toBeUndefined()
    expect(paths['/odd%2Fna~me']?.get).toMatchObject({ summary: 'Places.', description: 'And what is known of them.' })
    const service = (await ask(origin.keys.service)).document
    expect(JSON.stringify(service.paths['/rpc/near']?.post)).toContain(
      '{"type":"array","items":{"$ref":"#/definitions/owners"}}',
    )
    expect(service.definitions.owners?.properties.name).toMatchObject({ maxLength: 20, default: 'no one' })
  })
  test('tells in 3.1 what may be null, and what a new row must name', async () => {
    const { components, paths } = (await ask(origin.keys.user, '/rest/v1/?openapi=3.1')).document
    expect(components.schemas['odd_x2fna_x7eme']?.properties.size?.type).toEqual(['number', 'null'])
    expect(components.schemas['odd_x2fna_x7eme']?.properties.at?.type).toBe('string')
    // The key is generated and the other columns have defaults, so no member is required.
    expect(JSON.stringify(paths['/odd%2Fna~me']?.post)).not.toMatch(/"required":\["(?:id|tags|at)/)
  })
  test('is of the schema that the profile names', async () => {
    const response = await fetch(`${origin.url}/rest/v1/`, {
      headers: { apikey: origin.keys.anon, 'accept-profile': 'pg_catalog' },
    })
    expect(response.status).toBe(406)
    const { document } = await ask(origin.keys.service, '/rest/v1/', { 'accept-profile': 'geoembeddings' })
    expect(document.paths).not.toHaveProperty('/odd%2Fna~me')
  })
})

/** References that lead nowhere. */
function danglingReferences(document: Document): string[] {
  const dangling: string[] = []
  JSON.stringify(document, (key, value: unknown) => {
    if (key !== '$ref') return value
    const steps = String(value)
      .slice(2)
      .split('/')
      .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'))
    const found = steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], document)
    if (found === undefined) dangling.push(String(value))
    return value
  })
  return dangling
}
