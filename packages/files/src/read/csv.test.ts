import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { csvRecords, firstRecords } from './csv-records.ts'
import { openCsv } from './csv.ts'
import type { ReadRequest } from './protocol.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-csv-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** A reader's result for a table: its layer, the positions of its points, and its warnings. */
async function read(text: string, options: Partial<ReadRequest> = {}) {
  const path = join(folder, 'table.csv')
  await writeFile(path, text)
  const reader = await openCsv({ path, format: 'CSV', ...options })
  const places: (number[] | null)[] = []
  for await (const { geometry, geometryEnds, rows } of reader.read(0)) {
    for (let i = 0; i < rows; i++) {
      const wkb = Buffer.from(geometry.subarray(i === 0 ? 0 : geometryEnds[i - 1]!, geometryEnds[i]))
      const at = wkb.length - 16
      places.push(wkb.length === 0 ? null : [wkb.readDoubleLE(at), wkb.readDoubleLE(at + 8)])
    }
  }
  const layer = reader.layers[0]!
  const { srid, fields } = layer
  const [columns, types] = [fields.map(({ name }) => name), fields.map(({ type }) => type)]
  return { places, srid, columns, types, warnings: reader.takeWarnings() }
}

test('coordinates are found by the names of their columns, which stay', async () => {
  for (const header of ['stop_lat,stop_lon', 'decimalLatitude,decimalLongitude', 'Breitengrad,Längengrad', 'y,x']) {
    expect(await read(`name,${header}\nA,52.5,13.4\nB,,\n`)).toEqual({
      places: [[13.4, 52.5], null],
      srid: 4326,
      columns: ['name', ...header.split(',')],
      types: ['text', 'float8', 'float8'],
      warnings: [],
    })
  }
})

test('columns that do not pair up are named, and nothing is guessed', async () => {
  const text = 'id,start_lat,start_lng,end_lat,end_lng\na,52,5,53,6\n'
  expect(await read(text)).toMatchObject({
    places: [null],
    warnings: [{ code: 'COORDINATES_DOUBTFUL', count: 4, examples: ['start_lat', 'start_lng', 'end_lat', 'end_lng'] }],
  })
  const named = await read(text, { csv: { x: 'end_lng', y: 'END_LAT' } })
  expect(named).toMatchObject({ places: [[6, 53]], columns: text.split('\n', 1)[0]!.split(','), warnings: [] })
})

test('a column with both coordinates has points where letters name them, and else a warning', async () => {
  const said = `name;place\nA;48°08'15"N 11°34'30"E\nB;\n`
  expect(await read(said)).toMatchObject({
    places: [[11.575, 48.1375], null],
    columns: ['name', 'place'],
    warnings: [],
  })
  expect(await read('name;place\nA;48.1375, 11.575\nB;52.52, 13.405\n')).toMatchObject({
    places: [null, null],
    warnings: [{ code: 'COORDINATES_DOUBTFUL', examples: ['place'] }],
  })
})

test('columns that are called as coordinates and hold words stay as they are', async () => {
  expect(await read('x,y\nred,green\n')).toMatchObject({ places: [null], columns: ['x', 'y'], warnings: [] })
})

test('a column of geometries is found by what it holds: WKT, GeoJSON, and WKB in hexadecimal', async () => {
  const hex = Buffer.alloc(21)
  hex[0] = 1
  hex.writeUInt32LE(1, 1)
  hex.writeDoubleLE(5, 5)
  hex.writeDoubleLE(52, 13)
  for (const text of ['"POINT(5 52)"', '"{""type"":""Point"",""coordinates"":[5,52]}"', hex.toString('hex')]) {
    expect(await read(`id;outline\n1;${text}\n2;\n`)).toMatchObject({ places: [[5, 52], null], columns: ['id'] })
  }
  expect(await read('a;b\n"POINT(5 52)";"POINT(6 53)"\n')).toMatchObject({
    places: [null],
    warnings: [{ code: 'GEOMETRIES_DOUBTFUL', examples: ['a', 'b'] }],
  })
  expect(await read('id;note\n1;"POINT(5 52)"\n2;here\n')).toMatchObject({
    places: [null, null],
    columns: ['id', 'note'],
  })
})

test('the reference system of EWKT and EWKB counts, and two of them are refused', async () => {
  const dutch = '"SRID=28992;POINT(155000 463000)"'
  expect(await read(`id,geom\n1,${dutch}\n2,\n`)).toMatchObject({ places: [[155_000, 463_000], null], srid: 28992 })
  const ewkb = Buffer.alloc(25)
  ewkb[0] = 1
  ewkb.writeUInt32LE(0x20000001, 1)
  ewkb.writeUInt32LE(3857, 5)
  expect(await read(`id,geom\n1,${ewkb.toString('hex')}\n`)).toMatchObject({ places: [[0, 0]], srid: 3857 })
  expect(await read(`id,geom\n1,${dutch}\n`, { srid: 4326 })).toMatchObject({ srid: 4326 })
  await expect(read(`id,geom\n1,${dutch}\n2,"SRID=4326;POINT(5 52)"\n`)).rejects.toMatchObject({
    code: 'CONVERSION_FAILED',
    message: expect.stringContaining('EPSG:28992, EPSG:4326') as string,
  })
})

test('a column that is asked for and is not there is an error', async () => {
  for (const csv of [{ x: 'nope', y: 'lat' }, { x: 'nope' }, { wkt: 'nope' }]) {
    await expect(read('name,lat,lon\nA,52,5\n', { csv })).rejects.toMatchObject({ code: 'CSV_COLUMNS_UNKNOWN' })
  }
})

test('coordinates keep their values; the text of a geometry is left out, unless one cannot be read', async () => {
  const columns = async (text: string) => (await read(text)).columns
  expect(await columns('name,lat,lon\nA,52,13\nB,unknown,13\n')).toEqual(['name', 'lat', 'lon'])
  expect(await columns('name,wkt\nA,POINT (1 2)\nB,\n')).toEqual(['name'])
  expect(await columns('name,wkt\nA,POINT (1 2)\nB,POINT (1\n')).toEqual(['name', 'wkt'])
})

test('coordinates may be in degrees, minutes and seconds, with decimal commas, or with a letter for the side', async () => {
  const dms =
    "name,latitude,longitude\nA,48°08'15\"N,11°34'30\"E\nB,33°52'S,151°12'E\nC,N 48 7.5,W 11.5\nD,5° 70' N,3° O\n"
  const { places, warnings } = await read(dms)
  expect(places).toEqual([[11.575, 48.1375], [151.2, -(33 + 52 / 60)], [-11.5, 48.125], null])
  expect(warnings).toMatchObject([{ code: 'GEOMETRY_UNREADABLE', count: 1 }])
  const german = 'name;lat;lon;hoehe;plz\nA;48,137;11,575;519,25;01067\nB;52,52;13,405;34,0;80331\n'
  expect(await read(german)).toMatchObject({
    places: [
      [11.575, 48.137],
      [13.405, 52.52],
    ],
    types: ['text', 'float8', 'float8', 'float8', 'text'],
    warnings: [],
  })
  expect(await read('lat,lon\nnorth,east\n')).toMatchObject({
    places: [null],
    warnings: [{ code: 'COORDINATES_UNREADABLE', examples: ['lon', 'lat'] }],
  })
})

test('coordinates whose letters are those of the other axis are no point, and that is said', async () => {
  const swapped = await read('name,x,y\nA,48°08\'14"N,11°34\'31"E\nB,11°34\'30"E,48°08\'15"N\n')
  expect(swapped.places).toEqual([null, [11.575, 48.1375]])
  expect(swapped.warnings).toMatchObject([{ code: 'GEOMETRY_UNREADABLE', count: 1 }])
  expect(await read('name,x,y\nA,48°08\'14"N,11°34\'31"E\n')).toMatchObject({
    places: [null],
    warnings: [{ code: 'COORDINATES_UNREADABLE', examples: ['x', 'y'] }],
  })
})

test('a text before the dates of a column hides nothing of how they are written', async () => {
  const open = await read('d\nunknown\n3/4/2024\n', { columnTypes: { d: 'date' } })
  expect(open.warnings.map(({ code }) => code)).toEqual(['DATES_GUESSED', 'VALUES_UNREADABLE'])
  const said = await read('d\nunknown\n12/31/2024\n3/4/2024\n', { columnTypes: { D: 'date' } })
  expect(said.warnings).toMatchObject([{ code: 'VALUES_UNREADABLE', count: 1 }])
})

test('the line by which Excel says the delimiter is no header, behind a byte order mark or not', async () => {
  const expected = { places: [[1.5, 2.5], null], columns: ['name', 'lon', 'lat'], warnings: [] }
  for (const head of ['sep=;\r\n', '\u{feff}sep=;\n', '\u{feff}"sep=;"\n', 'SEP=;\n']) {
    expect(await read(`${head}name;lon;lat\nA;1,5;2,5\nB;;\n`)).toMatchObject(expected)
  }
  expect(await read('sep=#\nname#lon#lat\nA#1.5#2.5\nB##\n')).toMatchObject(expected)
  expect(await read('sep=;\nA;1,5;2,5\n')).toMatchObject({ columns: ['field_1', 'field_2', 'field_3'] })
})

test.each([
  ['commas in texts of a column', 'id;note, long\n1;hello, world\n2;one, two\n', ['id', 'note, long']],
  ['more commas than delimiters', 'id;a, b, c\n1;x, y, z\n2;p, q, r\n', ['id', 'a, b, c']],
  ['commas in names that rows lack', 'name, first;town\nA;B\nC;D\n', ['name, first', 'town']],
  ['names in quotes with commas', '"name, first";town\nA;B\n', ['name, first', 'town']],
  ['a semicolon in a name', 'id,name; alias,kind\n1,A,x\n2,B,y', ['id', 'name; alias', 'kind']],
  ['decimal commas', 'id;a,b;c\n1;1,5;2\n2;3;4\n', ['id', 'a,b', 'c']],
  ['decimal commas without names', '1,5;2,5;3,5\n4,5;5,5;6,5\n', ['field_1', 'field_2', 'field_3']],
  ['decimal commas in a single row', '1,5;2,5', ['field_1', 'field_2']],
  ['a list in a column', 'id,a;b,c\n1,x;y,2\n', ['id', 'a;b', 'c']],
  [
    'names in quotes with quotes and line ends',
    'id;"a ""x, y""\n(m, mean)";c\n1;2;3\n',
    ['id', 'a "x, y"\n(m, mean)', 'c'],
  ],
  ['rows that end with a delimiter', 'a;b;c,d\n1;2;x,y;\n3;4;z,w;\n', ['a', 'b', 'c,d']],
  ['rows that lack fields', 'a;b;c,d\n1;2\n3\n1;2;x,y;5\n1;4;7;8\n', ['a', 'b', 'c,d']],
  ['rows with decimal commas and more fields', 'a;b;c,d\n1;2;3,5;9\n1;2,5\n7;8;9,1;1\n', ['a', 'b', 'c,d']],
  [
    'rows with commas, one of which is broken',
    `id;note, long\n${'1;hello, world\n'.repeat(30)}rest of it, text\n`,
    ['id', 'note, long'],
  ],
  ['names with commas over a single column of decimals', 'c,d;kind\n87,51;yes\n12,87;no\n43,67\n', ['c,d', 'kind']],
  [
    'pairs of coordinates in rows that lack fields',
    'lat, lon|name\n8.5, 5.8|A\n1.7, 1.4\n2.7, 0.2\n',
    ['lat, lon', 'name'],
  ],
  ['points of thousands', 'c,d\tkind\tnote, long\n1.234,5\t1\tx, y\n4.321,5\n2.345,5\n', ['c,d', 'kind', 'note, long']],
  ['a single row without a line end', 'id\tx, y\n1\tA', ['id', 'x, y']],
])('the delimiter is the one by which rows are as wide as the header: %s', async (_, text, columns) => {
  expect(await read(text)).toMatchObject({ columns })
})

test('blanks around quotes do not belong to a field', async () => {
  const { columns, types } = await read('"id", "name, long" ,"height"\n1, "Ulm, old", "1,5"\n2,  "Bonn" ,"2,5"\n')
  expect({ columns, types }).toEqual({ columns: ['id', 'name, long', 'height'], types: ['int4', 'text', 'float8'] })
})

test('quotes behind blanks that do not enclose a field are its text', async () => {
  const long = 'x'.repeat(1 << 20)
  const text = `1, "tall" man, "Ulm, old"\n2, "a, ""b"" c" d, "e" "f"\n3,${long}, "open\n4,b, c""\n`
  const path = join(folder, 'quotes.csv')
  await writeFile(path, text)
  expect([...csvRecords(path, 'utf-8', ',')]).toEqual([
    ['1', ' "tall" man', 'Ulm, old'],
    ['2', ' "a', ' ""b"" c" d', ' "e" "f"'],
    ['3', long, ' "open'],
    ['4', 'b', ' c""'],
  ])
})

test('blanks and quotes by the hundred thousand are read as fast as other text', () => {
  const field = `${' '.repeat(200_000)}x${'"'.repeat(200_000)}`
  expect(firstRecords(`1,${field}\n`, ',')).toEqual([['1', field]])
})

test.each([
  ['years are names above other numbers', 'country,2019,2020\nA,1.5,2\n', ['country', '2019', '2020']],
  ['years behind blanks are names, too', 'country, 2019, 2020\nA, 1.5, 2\n', ['country', '2019', '2020']],
  ['years above some years are data', 'Ulm,1990,2005\nBonn,0,2006\n', ['field_1', 'field_2', 'field_3']],
  ['days are names above numbers', 'place,lat,1/22/20,1/23/20\nA,1.5,2,3\n', ['place', 'lat', '1/22/20', '1/23/20']],
  ['years between years are data', 'Ulm,1990,2005\nBonn,1991,2006\n', ['field_1', 'field_2', 'field_3']],
  ['days and times are data', '2/28/2008,1:00,NaN\n2/28/2008,2:00,5\n', ['field_1', 'field_2', 'field_3']],
  ['a word among numbers is data', '1,unknown,5\n2,3,4\n', ['field_1', 'field_2', 'field_3']],
])('a first line with values may have the names, and a warning says how it was read: %s', async (_, text, columns) => {
  const { columns: found, warnings } = await read(text)
  expect([found, warnings[0]?.code]).toEqual([columns, 'HEADER_GUESSED'])
})

test('lines of units below the names become rows, and that is said with the columns', async () => {
  expect(await read('name;height;width\n;m;m\nA;1;2\nB;3;4\n')).toMatchObject({
    columns: ['name', 'height', 'width'],
    types: ['text', 'text', 'text'],
    warnings: [{ code: 'HEADER_LINES', count: 2, examples: ['height', 'width'] }],
  })
})
