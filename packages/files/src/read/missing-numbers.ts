import type { DatabaseSync } from 'node:sqlite'
import type { FeatureBatch, LayerSchema } from '../feature-stream.ts'
import { quoted } from './gpkg-cells.ts'

/** Names of the columns of fractions that lack a value in some row. */
export function lackingColumns(database: DatabaseSync, { name, fields }: LayerSchema): string[] {
  const isLacking = (column: string) =>
    database.prepare(`select 1 from ${quoted(name)} where ${quoted(column)} is null limit 1`).get() !== undefined
  return fields.flatMap((field) => (field.type === 'float8' && isLacking(field.name) ? [field.name] : []))
}

/** Rows with NaN in place of missing fractions. */
export function* withNaN(batches: Iterable<FeatureBatch>, { fields }: LayerSchema): Generator<FeatureBatch> {
  for (const batch of batches) {
    const columns = batch.columns.map((values, i) =>
      fields[i]!.type === 'float8' ? values.map((value) => value ?? Number.NaN) : values,
    )
    yield { ...batch, columns }
  }
}
