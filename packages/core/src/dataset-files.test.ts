import { expect, test } from 'vitest'
import { datasetFiles, mainOfDataset } from './dataset-files.ts'

test('the files of a Shapefile are found beside it, whatever the case of their endings', () => {
  const names = [
    'roads.shp',
    'ROADS.DBF',
    'roads.shx',
    'roads.prj',
    'roads.shp.xml',
    'roads.csv',
    'roads2.dbf',
    'notes.txt',
  ]
  expect(datasetFiles('roads.shp', names)).toEqual({
    stem: 'roads',
    files: ['roads.shp', 'ROADS.DBF', 'roads.shx', 'roads.prj', 'roads.shp.xml'],
    missing: [],
  })
})

test('what is missing is named', () => {
  expect(datasetFiles('a.b.SHP', ['a.b.SHP', 'a.dbf'])).toEqual({
    stem: 'a.b',
    files: ['a.b.SHP'],
    missing: ['shx', 'dbf'],
  })
  expect(datasetFiles('t.tab', ['t.tab', 't.dat'])).toMatchObject({ missing: ['map', 'id'] })
})

test('a file that stands for itself has no others', () => {
  for (const name of ['roads.gpkg', 'roads', 'roads.dbf', '.shp.zip']) expect(datasetFiles(name, [name])).toBeNull()
})

test('of several files the one that names them is found, where all belong together', () => {
  expect(mainOfDataset(['r.dbf', 'r.shx', 'r.shp', 'r.cpg'])).toBe('r.shp')
  expect(mainOfDataset(['m.mid', 'm.mif'])).toBe('m.mif')
  expect(mainOfDataset(['r.dbf', 'r.shx', 'r.shp', 'photo.jpg'])).toBeNull()
  expect(mainOfDataset(['a.shp', 'b.shp'])).toBeNull()
  expect(mainOfDataset(['a.csv', 'b.csv'])).toBeNull()
})
