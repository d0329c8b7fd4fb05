# The image of a release: as ../Dockerfile makes it, from the program that was
# released. The build's context has it as linux/ARCH/ycbot.
FROM debian:bookworm-slim
ARG TARGETPLATFORM
RUN apt-get update \
 && apt-get install -y --no-install-recommends bash bubblewrap ca-certificates git \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --create-home --shell /usr/sbin/nologin ycbot \
 && install -d -o ycbot -g ycbot -m 0700 /data
COPY $TARGETPLATFORM/ycbot /usr/local/bin/ycbot
USER 10001:10001
# $YCBOT_HOME is the user's, and what the App keeps goes to /data.
ENV YCBOT_HOME=/home/ycbot/.ycbot YCBOT_DATA=/data
WORKDIR /home/ycbot
VOLUME /data
ENTRYPOINT ["/usr/local/bin/ycbot"]
CMD ["--help"]
