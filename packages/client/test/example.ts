import { createClient, JobFailed } from '@terrane/client'

/** Imports a file in the storage of the project. Returns the name of the table, or the reason for a failure. */
export async function importFile(
  url: string,
  key: string,
  path: string,
  show: (text: string) => void,
): Promise<string> {
  const { jobs } = createClient({ url, key })
  try {
    const input = { storagePath: { bucket: 'uploads', path }, tableName: 'roads' }
    const { tables } = await jobs.run('ogr2ogrImport', input, {
      onProgress: ({ percent, message }) => show(`${percent ?? '?'} % ${message}`),
      signal: AbortSignal.timeout(600_000),
    })
    return tables.map(({ table, rows }) => `${table}: ${rows} rows`).join(', ')
  } catch (error) {
    if (error instanceof JobFailed) return `${error.code}: ${error.hint}`
    throw error
  }
}
