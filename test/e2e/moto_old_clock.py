"""moto's S3 server with its clock set back, so that whole runs find objects old enough to judge:
python test/e2e/moto_old_clock.py [port] [days]. Needs moto[server]."""

import datetime
import sys

import moto.s3.models
from moto.server import main

port = sys.argv[1] if len(sys.argv) > 1 else "5055"
days = int(sys.argv[2]) if len(sys.argv) > 2 else 60
now = moto.s3.models.utcnow
moto.s3.models.utcnow = lambda: now() - datetime.timedelta(days=days)
main(["-H", "127.0.0.1", "-p", port])
