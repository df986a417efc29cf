import { setImmediate } from 'node:timers/promises'
import type { JobWarning } from '@terrane/contracts'
import type { Queryable } from '@terrane/database'
import {
  checkSameVectors,
  classifierWeights,
  findClassifier,
  findVectorTable,
  type StoredClassifier,
  type VectorTable,
} from '@terrane/database/classifiers'
import { rowsOfSources } from '@terrane/database/vector-pages'
import { headOfBytes, normalizeVectors, type Head, type Pause } from '@terrane/embeddings/heads'
import { classifierMissing, classifierUnfit, sourcesUnknown, vectorTableMissing } from './errors.ts'

/** @throws EMBEDDING_TABLE_NOT_FOUND */
export async function requireVectorTable(database: Queryable, table: string): Promise<VectorTable> {
  const found = await findVectorTable(database, table)
  if (found === null) throw vectorTableMissing({ table })
  return found
}

/** The classifier of a request. @throws CLASSIFIER_NOT_FOUND, CLASSIFIER_NOT_COMPARABLE if learnt from other vectors */
export async function requireClassifier(
  database: Queryable,
  { classifier, version = null }: { readonly classifier: string; readonly version?: number | null },
  table: string,
): Promise<StoredClassifier> {
  const found = await findClassifier(database, classifier, version)
  if (found === null) throw classifierMissing({ classifier, version })
  try {
    await checkSameVectors(database, found.identity, table)
  } catch (cause) {
    const { code, message, hint } = cause as { code?: unknown; message: string; hint?: string }
    if (code !== '22023') throw cause
    throw classifierUnfit({ classifier, why: message, hint }, { cause })
  }
  return found
}

/** The head of a stored classifier. @throws CLASSIFIER_NOT_FOUND where it has been deleted meanwhile */
export async function headOf(database: Queryable, stored: StoredClassifier): Promise<Head> {
  const { name, version, head, classes, settings, identity } = stored
  const weights = await classifierWeights(database, stored)
  if (weights === null) throw classifierMissing({ classifier: name, version })
  const dims = identity['dims'] as number
  const { neighbours = 1, temperature = 1 } = settings as { neighbours?: number; temperature?: number }
  return { kind: head, dims, classes: classes.length, neighbours, temperature, ...headOfBytes(weights, dims) }
}

/** Filter of the rows of a table; empty for all rows. */
export interface ChosenRows {
  readonly since?: string
  readonly until?: string
  readonly sourceNumbers?: readonly number[]
}

/** Condition on a row `t`, to append to `where true`, and a warning about rows without a time. @throws SOURCES_UNKNOWN */
export async function chosenRows(
  database: Queryable,
  table: string,
  { since, until, sourceNumbers: sources }: ChosenRows,
): Promise<{ readonly where: string; readonly warnings: readonly JobWarning[] }> {
  try {
    const { where, rowsWithoutTime: count } = await rowsOfSources(database, table, { since, until, sources })
    const message = 'Rows without a time were left out, because since or until is given.'
    return { where, warnings: count > 0 ? [{ code: 'ROWS_WITHOUT_TIME', message, count }] : [] }
  } catch (cause) {
    const { code, message } = cause as { code?: unknown; message: string }
    if (code !== '22023' && code !== '22008' && code !== '22007') throw cause
    throw sourcesUnknown({ why: message }, { cause })
  }
}

/** Returns a function that yields to other work of the process, and throws when the signal has aborted. */
export function pauseOf(signal: AbortSignal): Pause {
  return async () => {
    signal.throwIfAborted()
    await setImmediate()
  }
}

/** Scales vectors to unit length where directions are compared; returns which of them are zero. */
export function prepare(vectors: Float32Array, { dims, metric }: Pick<VectorTable, 'dims' | 'metric'>): Set<number> {
  return metric === 'l2' ? new Set() : normalizeVectors(vectors, dims)
}

/** Owner and readers of a result. */
export interface Readers {
  readonly owner: string | null
  readonly isPublic: boolean
}

/** Owner and readers of a result, by default those of its table. @param isOpen whether anon may read other inputs */
export function readersOf(request: ReadersRequest, table: VectorTable, isOpen: boolean): Readers {
  const { ownerUuid, isPublic } = request
  return { owner: ownerOf(request, table), isPublic: isPublic ?? (!ownerUuid && table.isPublic && isOpen) }
}

/** Owner of a result: that of the embeddings table unless the request says otherwise. */
export function ownerOf({ ownerUuid }: ReadersRequest, table: VectorTable): string | null {
  return ownerUuid === undefined ? table.owner : ownerUuid
}

interface ReadersRequest {
  readonly ownerUuid?: string | null
  readonly isPublic?: boolean
}
