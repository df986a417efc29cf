import { openFile } from '@terrane/files'

export async function printFile(path: string, print: (line: string) => void): Promise<void> {
  await using file = await openFile(path)
  for (const { name, rows, fields, srid } of file.layers) {
    print(`${name}: ${rows} rows in EPSG:${srid}, ${fields.map((field) => `${field.name} ${field.type}`).join(', ')}`)
  }
  for await (const { batch } of file.read()) {
    for (let row = 0, start = 0; row < batch.rows; row++) {
      const end = batch.geometryEnds[row]!
      const values = batch.columns.map((column) => String(column[row]))
      print(`${values.join(', ')} and ${end - start} bytes of WKB`)
      start = end
    }
  }
  for (const { code, count = 1 } of file.warnings) print(`${code}: ${count}`)
}
