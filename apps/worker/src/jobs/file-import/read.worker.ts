// The reading process of imports: it makes rows for COPY of what it reads.
import { serveProcess } from '@terrane/files/process'
import { RowPacker, type RowPlan } from './row-packer.ts'

await serveProcess((plan, send) => new RowPacker(plan as RowPlan, send))
