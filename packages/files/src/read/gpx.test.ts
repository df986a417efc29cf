import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openGpx } from './gpx.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-gpx-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** The rows of each layer that has any, each with the columns that hold something. */
async function read(body: string, version = '1.1') {
  const path = join(folder, 'data.gpx')
  const prefixes = 'xmlns="http://www.topografix.com/GPX/1/1" xmlns:a="urn:a"'
  await writeFile(path, `<?xml version="1.0"?><gpx version="${version}" creator="c" ${prefixes}>${body}</gpx>`)
  const reader = await openGpx(path)
  const warnings = [...reader.takeWarnings()]
  const rows: Record<string, unknown[]> = {}
  const types: Record<string, string> = {}
  for (const [i, { name, fields }] of reader.layers.entries()) {
    for await (const batch of reader.read(i)) {
      for (let row = 0; row < batch.rows; row++) {
        const cells = fields.map((field, f) => [field.name, batch.columns[f]![row]] as const)
        ;(rows[name] ??= []).push(Object.fromEntries(cells.filter(([, value]) => value !== null)))
      }
    }
    warnings.push(...reader.takeWarnings())
    for (const field of fields) types[`${name}.${field.name}`] = field.type
  }
  return { rows, types, warnings: warnings.map(({ code, count }) => [code, count]), layers: reader.layers }
}

const EXTENSIONS =
  '<extensions><a:zoom>12</a:zoom><a:code>007</a:code><a:flag k="v"/><a:name>other</a:name>' +
  '<a:hr>\n <a:now u="bpm">74</a:now>\n</a:hr><a:zoom>13</a:zoom></extensions>'
const EXTRA = {
  a_zoom: 12,
  a_code: '007',
  a_flag_k: 'v',
  a_name: 'other',
  a_hr: ' <a:now u="bpm">74</a:now>',
  a_zoom_2: 13,
}

test('extensions of points, routes and tracks are columns, nested and repeated ones too', async () => {
  const { rows, types, warnings } = await read(
    `<wpt lat="1" lon="2"><name>W</name>${EXTENSIONS}</wpt>
     <rte><name>R</name>${EXTENSIONS}<rtept lat="1" lon="2">${EXTENSIONS}</rtept><rtept lat="2" lon="2"/></rte>
     <trk><name>T</name>${EXTENSIONS}<trkseg><trkpt lat="1" lon="2">${EXTENSIONS}</trkpt><trkpt lat="2" lon="2"/></trkseg></trk>`,
  )
  expect(rows).toEqual({
    waypoints: [{ name: 'W', ...EXTRA }],
    routes: [{ name: 'R', ...EXTRA }],
    tracks: [{ name: 'T', ...EXTRA }],
    route_points: [
      { route_fid: 0, route_point_id: 0, ...EXTRA },
      { route_fid: 0, route_point_id: 1 },
    ],
    track_points: [
      { track_fid: 0, track_seg_id: 0, track_seg_point_id: 0, ...EXTRA },
      { track_fid: 0, track_seg_id: 0, track_seg_point_id: 1 },
    ],
  })
  expect([types['track_points.a_zoom'], types['track_points.a_code'], types['track_points.a_hr']]).toEqual([
    'int4',
    'text',
    'text',
  ])
  expect(warnings).toEqual([])
})

test('elements that the format does not know, links after the second, and markup are kept', async () => {
  const links = [1, 2, 3].map((i) => `<link href="h${i}"><text>t${i}</text><type>y${i}</type></link>`).join('')
  const { rows } = await read(
    `<wpt lat="1" lon="2"><ele>1.5</ele><time>2020-02-29T10:00:00Z</time><a:temp>4</a:temp><desc>a <b>b</b></desc>
     <extensions><name>inner</name></extensions>${links}</wpt>`,
  )
  expect(rows['waypoints']).toEqual([
    {
      ele: 1.5,
      time: '2020-02-29T10:00:00Z',
      a_temp: 4,
      desc: 'a <b>b</b>',
      name_2: 'inner',
      ...Object.fromEntries(
        [1, 2, 3].flatMap((i) =>
          [`link${i}_href`, `link${i}_text`, `link${i}_type`].map((k, j) => [k, `${'hty'[j]}${i}`]),
        ),
      ),
    },
  ])
})

test('GPX 1.0 has its own columns', async () => {
  const { rows } = await read(
    '<trk><url>u</url><trkseg><trkpt lat="1" lon="2"><course>3</course><speed>4</speed><urlname>n</urlname></trkpt></trkseg></trk>',
    '1.0',
  )
  expect(rows['tracks']).toEqual([{ url: 'u' }])
  expect(rows['track_points']).toMatchObject([{ course: 3, speed: 4, urlname: 'n' }])
})

test('what cannot be kept is counted', async () => {
  const { rows, warnings } = await read(
    `<metadata><extensions><a:x>1</a:x></extensions></metadata>
     <wpt lat="1" lon="2"><ele>12,5</ele><time>2020</time></wpt><wpt lat="north" lon="2"><sat>5.0</sat><time>noon</time></wpt>
     <trk><trkseg><trkpt lat="1" lon="2"/></trkseg><trkseg><trkpt lat="1" lon="2"/><trkpt lat="2" lon="2"/><extensions><a:y/></extensions></trkseg></trk>`,
  )
  expect(rows['waypoints']).toEqual([{ time: '2020-01-01' }, { sat: 5 }])
  expect(warnings).toEqual([
    ['MEMBERS_LEFT_OUT', 2],
    ['VALUES_UNREADABLE', 2],
    ['TIMES_COMPLETED', 1],
    ['GEOMETRY_UNREADABLE', 1],
    ['GEOMETRY_INVALID', 1],
  ])
})

test('a file with no features has its layers, and one that is cut is an error', async () => {
  const { layers } = await read('')
  expect(layers.map(({ name, rows }) => [name, rows])).toEqual(
    ['waypoints', 'routes', 'tracks', 'route_points', 'track_points'].map((name) => [name, 0]),
  )
  await expect(read('<wpt lat="1" lon="2">')).rejects.toMatchObject({ code: 'CONVERSION_FAILED' })
})
