import type { TaskName } from '@terrane/contracts'
import type { IconName } from '../components/icon.tsx'

/** The tasks of the worker, in the order of its interface, with a picture each. */
export const TASKS: Readonly<Record<string, IconName>> = {
  osmImportArea: 'streets',
  overtureImportArea: 'layers',
  ogr2ogrImport: 'upload',
  createGeoEmbeddings: 'grid',
  createSraiEmbeddings: 'hexagon',
  archiveToPmtiles: 'archive',
  exportTable: 'down',
} satisfies Record<TaskName, IconName>

const NAMES: Readonly<Record<string, string>> = {
  osmImportArea: 'OpenStreetMap import',
  overtureImportArea: 'Overture import',
  ogr2ogrImport: 'File import',
  createGeoEmbeddings: 'Imagery embeddings',
  createSraiEmbeddings: 'Region embeddings',
  archiveToPmtiles: 'Archive to PMTiles',
  exportTable: 'Table export',
} satisfies Record<TaskName, string>

/** A task's name for people. */
export function taskLabel(task: string): string {
  return NAMES[task] ?? task
}
