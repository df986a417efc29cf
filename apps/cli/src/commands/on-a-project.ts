import type { AddCommands } from '../program.ts'
import { askCommands } from './ask.ts'
import { basemapCommands } from './basemap.ts'
import { envCommand } from './env.ts'
import { exportCommand } from './export.ts'
import { fileCommands } from './files.ts'
import { hookCommands } from './hooks.ts'
import { jobCommands } from './jobs.ts'
import { loginCommands } from './login.ts'
import { qgisCommand } from './qgis.ts'
import { scheduleCommands } from './schedules.ts'
import { tableCommands } from './tables.ts'
import { importCommands } from './imports.ts'
import { taskCommands } from './tasks.ts'
import { webhookCommands } from './webhooks.ts'

/** Commands that need only a project and nothing of this repository; the published package has these. */
export const ON_A_PROJECT: readonly AddCommands[] = [
  importCommands,
  taskCommands,
  basemapCommands,
  exportCommand,
  qgisCommand,
  askCommands,
  jobCommands,
  scheduleCommands,
  webhookCommands,
  hookCommands,
  tableCommands,
  fileCommands,
  loginCommands,
  envCommand,
]
