/** Types that no map can show. */
export const NEVER_SHOWN: ReadonlySet<string> = new Set(
  'bytea geometry geography raster vector halfvec sparsevec tsvector'.split(' '),
)

const INTEGERS: ReadonlySet<string> = new Set(['int2', 'int4', 'int8'])
const FLOATS: ReadonlySet<string> = new Set(['float4', 'float8', 'numeric'])

/** Type of the values of a column on a map, by its type in PostgreSQL. */
export function mapTypeOf(type: string): 'int8' | 'float8' | 'bool' | 'text' {
  return INTEGERS.has(type) ? 'int8' : FLOATS.has(type) ? 'float8' : type === 'bool' ? 'bool' : 'text'
}
