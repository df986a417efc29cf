import type { TaskName } from '@terrane/contracts'
import type { IconName } from '../components/icon.tsx'

/** Display texts of a task. */
interface TaskFace {
  readonly icon: IconName
  readonly label: string
  readonly group: TaskGroup
  /** The purpose of the task, in a sentence without field names. */
  readonly about: string
}

export type TaskGroup = 'add' | 'analyse' | 'publish'

/** Headings of the groups, in display order. */
export const TASK_GROUPS: Readonly<Record<TaskGroup, string>> = {
  add: 'Add data',
  analyse: 'Search and analyse',
  publish: 'Publish and export',
}

const FACES = {
  ogr2ogrImport: {
    icon: 'upload',
    label: 'File import',
    group: 'add',
    about: 'Turns a GeoPackage, Shapefile, GeoJSON, CSV, Excel or GPX file into tables.',
  },
  osmImportArea: {
    icon: 'streets',
    label: 'OpenStreetMap import',
    group: 'add',
    about: 'Streets, buildings, places and more of an area, one table per topic.',
  },
  osmUpdateArea: {
    icon: 'streets',
    label: 'OpenStreetMap update',
    group: 'add',
    about: 'Brings tables of an OpenStreetMap import up to date, once or on a schedule.',
  },
  overtureImportArea: {
    icon: 'layers',
    label: 'Overture import',
    group: 'add',
    about: 'Buildings, places and divisions of an area from Overture Maps.',
  },
  createGeoEmbeddings: {
    icon: 'grid',
    label: 'Imagery embeddings',
    group: 'analyse',
    about: 'Embeds satellite or aerial images, to find similar places and changes.',
  },
  createSraiEmbeddings: {
    icon: 'hexagon',
    label: 'Region embeddings',
    group: 'analyse',
    about: 'Embeds hexagons by the map features in them, to find similar neighbourhoods.',
  },
  importEmbeddings: {
    icon: 'upload',
    label: 'Embeddings import',
    group: 'add',
    about: 'Imports ready-made embeddings, such as AlphaEarth, Clay or Earth Index, for search.',
  },
  trainClassifier: {
    icon: 'grid',
    label: 'Classifier training',
    group: 'analyse',
    about: 'Trains a classifier on examples in an embeddings table, and measures its accuracy.',
  },
  classifyEmbeddings: {
    icon: 'grid',
    label: 'Map of classes',
    group: 'analyse',
    about: 'Gives each row of an embeddings table a class and its probability.',
  },
  clusterEmbeddings: {
    icon: 'grid',
    label: 'Map of clusters',
    group: 'analyse',
    about: 'Groups similar rows of an embeddings table, without examples.',
  },
  archiveToPmtiles: {
    icon: 'archive',
    label: 'Archive to PMTiles',
    group: 'publish',
    about: 'Packs tables into one file of vector tiles that any map can read.',
  },
  exportTable: {
    icon: 'down',
    label: 'Table export',
    group: 'publish',
    about:
      'Writes a table or a query as GeoPackage, GeoParquet, GeoJSON, CSV or Shapefile, and a table of classes as COG.',
  },
} satisfies Record<TaskName, TaskFace>

/** Names of the tasks, in display order. */
export const TASKS: readonly string[] = Object.keys(FACES)

/** Display texts of a task; null for an unknown one. */
export function taskFace(task: string): TaskFace | null {
  return Object.hasOwn(FACES, task) ? FACES[task as TaskName] : null
}

/** A task's name for people. */
export function taskLabel(task: string): string {
  return taskFace(task)?.label ?? task
}
