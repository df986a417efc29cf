/** A request body that is invalid or almost valid. */
export interface Body {
  readonly name: string
  readonly type: string | null
  readonly bytes: Buffer
}

const JSON_TYPE = 'application/json'
const MIB = 1024 * 1024

const text = (name: string, body: string, type: string | null = JSON_TYPE): Body => ({
  name,
  type,
  bytes: Buffer.from(body),
})

/** Bodies that no schema accepts. Those of several megabytes are made once and shared. */
const GENERAL: readonly Body[] = [
  text('empty', ''),
  text('cut short', '{"a":'),
  text('a number', '0'),
  text('null', 'null'),
  text('endless number', `{"a":1e999,"b":${'9'.repeat(400)}}`),
  text('prototype', '{"__proto__":{"a":1},"constructor":{"prototype":{"a":1}}}'),
  text('repeated name', `{${'"a":1,'.repeat(50_000)}"a":1}`),
  text('deep arrays', '['.repeat(100_000)),
  text('deep objects', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`),
  text('99 levels', `${'['.repeat(99)}${']'.repeat(99)}`),
  text('wide array', `[${'1,'.repeat(500_000)}1]`),
  text('wide object', `{${Array.from({ length: 60_000 }, (_, n) => `"k${n}":1`).join(',')}}`),
  text('unknown fields', `{"expiresIn":1,"paths":[${'1,'.repeat(100_000)}1]}`),
  text('long text', `{"a":"${'x'.repeat(3 * MIB)}"}`),
  text('10 MB of fields', `{${Array.from({ length: 620_000 }, (_, n) => `"${n}":null`).join(',')}}`.slice(0, 10 * MIB)),
  text('10 MB of numbers', `{"expiresIn":1,"paths":[${'1,'.repeat(5_200_000)}1]}`),
  text('10 MB of objects', `[${'{},'.repeat(3_400_000)}{}]`),
  text('NUL', '{"a":"\\u0000"}'),
  text('half a surrogate', '{"a":"\\ud800"}'),
  text('text', 'hello', 'text/plain'),
  text('xml', `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "${'b'.repeat(1000)}">]><a>&b;</a>`, 'application/xml'),
  text('form', 'a=1&'.repeat(20_000), 'application/x-www-form-urlencoded'),
  text(
    'multipart without an end',
    '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n',
    'multipart/form-data; boundary=x',
  ),
  text(
    'multipart of many parts',
    `${'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(20_000)}--x--`,
    'multipart/form-data; boundary=x',
  ),
  text('no type', '{"a":1}', null),
  { name: 'bad UTF-8', type: JSON_TYPE, bytes: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]) },
  { name: 'UTF-16', type: JSON_TYPE, bytes: Buffer.from('\ufeff{"a":1}', 'utf16le') },
  { name: '4 MB of zeros', type: 'application/octet-stream', bytes: Buffer.alloc(4 * MIB) },
]

/** Values that replace a part of an otherwise valid body. */
const VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  '',
  '\u0000',
  '\ud800',
  'x'.repeat(100_000),
  '../../etc/passwd',
  `${'a'.repeat(50_000)}!`,
  '"'.repeat(5000),
  "'; drop table x; --",
  [],
  {},
  Array.from({ length: 100_000 }, () => 1),
  Array.from({ length: 20_000 }, () => ({ a: 1 })),
  [[[[[[[[[[[[]]]]]]]]]]]],
  { type: 'Polygon', coordinates: [Array.from({ length: 100_000 }, (_, n) => [n / 1000, 90 - n / 1000])] },
  'http://169.254.169.254/latest/meta-data',
  'file:///etc/passwd',
]

interface Schema {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minimum?: number
  readonly minItems?: number
}

/** The general bodies, and for a route with a schema, some that are valid except for one part. */
export function bodiesFor(schema: unknown, random: () => number): Body[] {
  if (schema === null || typeof schema !== 'object') return [...GENERAL]
  const nearly = Array.from({ length: 30 }, () => {
    const root = { body: example(schema, random) }
    spoil(root, random)
    return text('nearly right', JSON.stringify(root.body) ?? 'null')
  })
  return [...GENERAL, ...nearly]
}

/** A value that the schema accepts, as far as the supported JSON Schema keywords describe it. */
function example(schema: Schema, random: () => number): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[Math.floor(random() * schema.enum.length)]
  if (schema.anyOf) return example(schema.anyOf[Math.floor(random() * schema.anyOf.length)]!, random)
  switch ([schema.type].flat()[0]) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([name]) => schema.required?.includes(name) || random() < 0.5)
          .map(([name, part]) => [name, example(part, random)]),
      )
    case 'array':
      return Array.from({ length: schema.minItems ?? 1 }, () => example(schema.items ?? {}, random))
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return random() < 0.5
    default:
      return 'a'
  }
}

/** Replaces one part somewhere inside. */
function spoil(holder: object, random: () => number): void {
  const names = Object.keys(holder)
  const name = names[Math.floor(random() * names.length)]!
  const parts = holder as Record<string, unknown>
  const inner = parts[name]
  if (inner !== null && typeof inner === 'object' && Object.keys(inner).length > 0 && random() < 0.8)
    return spoil(inner, random)
  parts[name] = VALUES[Math.floor(random() * VALUES.length)]
}
