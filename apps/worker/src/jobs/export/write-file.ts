import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ExportFormat } from '@terrane/contracts'
import { fileBytes, rowsFor, writeFlatGeobuf, writeGpkg, type ExportRow, type ExportSource } from '@terrane/exports'
import type { ExportWork } from './export-work.ts'
import { writeShapefile } from './shapefile.ts'

/** Writes a table or query as a file; returns its path and rows. @throws FORMAT_TAKES_ONE_KIND, CONVERSION_FAILED */
export async function writeFile(
  source: ExportSource,
  format: ExportFormat,
  work: ExportWork,
): Promise<{ readonly path: string; readonly rows: number }> {
  const done = { rows: 0 }
  const batches = counted(rowsFor(source, format, work.scan, work.warnings), work, done)
  return { path: await write(source, format, batches, work), rows: done.rows }
}

async function write(
  source: ExportSource,
  format: ExportFormat,
  batches: AsyncIterable<ExportRow[]>,
  work: ExportWork,
): Promise<string> {
  const { workdir, warnings, signal, systems } = work
  switch (format) {
    case 'FlatGeobuf': {
      const path = join(workdir, 'export.fgb')
      await writeFlatGeobuf(source, batches, { path, signal }, warnings)
      return path
    }
    case 'Shapefile':
      return writeShapefile(source, batches, work)
    case 'GeoPackage': {
      const path = join(workdir, 'export.gpkg')
      await writeGpkg(systems, source, batches, path, warnings)
      return path
    }
    default: {
      const path = join(workdir, 'export.bin')
      const bytes = Readable.from(fileBytes(source, format, batches, warnings))
      await pipeline(bytes, createWriteStream(path), { signal })
      return path
    }
  }
}

async function* counted(batches: AsyncIterable<ExportRow[]>, { signal, onRows }: ExportWork, done: { rows: number }) {
  for await (const rows of batches) {
    signal.throwIfAborted()
    yield rows
    onRows((done.rows += rows.length))
  }
}
